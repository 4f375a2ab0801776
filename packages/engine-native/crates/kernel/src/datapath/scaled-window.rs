//! tcgen05 mxf8f6f4: one window over all K scaled products and c (numerics section 6).

use super::Scratch;
use crate::addend::Addend;
use crate::events::{self, Events};
use crate::round::finish;
use crate::spec::{Rounding, ScaledWindow};
use crate::special::special;
use crate::sum::Sum;
use crate::terms::{Terms, gather};
use crate::unit::Unit;

pub fn instruction<S: Sum>(
    spec: &ScaledWindow,
    unit: &Unit,
    terms: &Terms<'_>,
    word: u64,
    scratch: &mut Scratch<S>,
    events: &mut Events,
) -> u64 {
    let products = &mut scratch.products;
    let found = gather::<S>(terms, 0..terms.len(), products);
    let c = Addend::decode(spec.output.format, word, events);
    if let Some(word) = special(terms, 0..terms.len(), found.flags, Some(&c), &spec.output, events) {
        return word;
    }
    if products.is_empty() {
        events.note(events::ADDEND_PASSED);
        return word;
    }
    let quantum = found.e.max(c.term_exponent()) - spec.fraction;
    let mut sum = S::ZERO;
    if c.sig != 0 {
        sum = S::place(S::sig(c.sig), c.lsb - quantum, Rounding::Zero);
    }
    for product in products.iter() {
        sum = sum.add(S::place(product.sig, product.e - unit.fraction - quantum, Rounding::Zero));
    }
    finish(sum.value(quantum), &spec.output, events)
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &ScaledWindow, unit: &Unit) -> i32 {
    unit.window_bits(spec.fraction, unit.k).max(unit.product_bits())
}
