//! NaN and infinities among the terms of a block step (numerics section 3).

use crate::addend::Addend;
use crate::events::{self, Events};
use crate::format::Class;
use crate::mutants::{self, Mutant};
use crate::spec::Output;
use crate::terms::{ABSENT, INFINITE, NAN, NEGATIVE, SCALE_NAN, SPECIAL, Terms};

/// Infinities seen so far, by sign.
#[derive(Default)]
struct Infinities {
    positive: bool,
    negative: bool,
}

impl Infinities {
    fn see(&mut self, negative: bool) {
        if negative {
            self.negative = true;
        } else {
            self.positive = true;
        }
    }

    fn word(&self, output: &Output) -> Option<u64> {
        match (self.positive, self.negative) {
            (false, false) => None,
            (true, true) => Some(output.nan),
            (_, negative) => Some(output.format.infinity(negative)),
        }
    }
}

/// The word that special values among the terms and c decide; None where all is finite.
/// `flags` is the union of the elements' flags: the pass over the terms is skipped where it shows nothing.
pub fn special(
    terms: &Terms<'_>,
    flags: u32,
    c: Option<&Addend>,
    output: &Output,
    events: &mut Events,
) -> Option<u64> {
    let class = c.map_or(Class::Finite, |c| c.class);
    if (flags & SPECIAL == 0 && class == Class::Finite) || mutants::on(Mutant::NoSpecials) {
        return None;
    }
    let mut infinities = Infinities::default();
    let mut nan = class == Class::Nan;
    if let (Class::Infinite, Some(c)) = (class, c) {
        infinities.see(c.negative);
    }
    for (a, b) in terms.pairs() {
        let either = a.flags | b.flags;
        if either & SCALE_NAN != 0 {
            nan = true;
        } else if either & ABSENT != 0 {
            continue;
        } else if either & NAN != 0 {
            nan = true;
        } else if either & INFINITE != 0 {
            if (a.sig == 0 || b.sig == 0) && !mutants::on(Mutant::InfinityTimesZero) {
                nan = true;
            } else {
                infinities.see((a.flags ^ b.flags) & NEGATIVE != 0);
            }
        }
    }
    let word = if nan { Some(output.nan) } else { infinities.word(output) };
    events.note_if(word.is_some(), events::NON_FINITE);
    word
}

/// The word that products of magnitude 2^limit and more decide. `fraction`: fraction bits of a product.
pub fn product_overflow(
    terms: &Terms<'_>,
    fraction: i32,
    limit: Option<i32>,
    output: &Output,
    events: &mut Events,
) -> Option<u64> {
    let limit = limit.filter(|_| !mutants::on(Mutant::NoProductOverflow))?;
    let mut infinities = Infinities::default();
    for (a, b) in terms.pairs().filter(|(a, b)| a.sig != 0 && b.sig != 0) {
        let magnitude = u128::from(a.sig.unsigned_abs()) * u128::from(b.sig.unsigned_abs());
        if a.e + b.e - fraction + 127 - magnitude.leading_zeros() as i32 >= limit {
            infinities.see((a.sig < 0) != (b.sig < 0));
        }
    }
    let word = infinities.word(output);
    events.note_if(word.is_some(), events::PRODUCT_OVERFLOW);
    word
}
