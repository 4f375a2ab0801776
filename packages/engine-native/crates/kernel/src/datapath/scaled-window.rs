//! tcgen05 mxf8f6f4: one window over all K scaled products and c (numerics section 6).

use crate::addend::Addend;
use crate::events::{self, Events};
use crate::mutants::{self, Mutant};
use crate::round::finish;
use crate::spec::{Rounding, ScaledWindow};
use crate::special::special;
use crate::sum::Sum;
use crate::terms::{NO_EXPONENT, Terms};
use crate::unit::Unit;

pub fn instruction<S: Sum>(
    spec: &ScaledWindow,
    unit: &Unit,
    terms: &Terms<'_>,
    word: u64,
    events: &mut Events,
) -> u64 {
    let found = terms.scan();
    let c = Addend::decode(spec.output.format, word, events);
    if let Some(word) = special(terms, found.flags, Some(&c), &spec.output, events) {
        return word;
    }
    if found.e == NO_EXPONENT {
        events.note(events::ADDEND_PASSED);
        return if mutants::on(Mutant::NoPass) { 0 } else { word };
    }
    let quantum = found.e.max(c.term_exponent()) - spec.fraction;
    let products = terms.aligned::<S>(unit.fraction, quantum, Rounding::Zero);
    finish(products.add(c.aligned(quantum, Rounding::Zero)).value(quantum), &spec.output, events)
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &ScaledWindow, unit: &Unit) -> i32 {
    unit.window_bits(spec.fraction, unit.k).max(unit.product_bits())
}
