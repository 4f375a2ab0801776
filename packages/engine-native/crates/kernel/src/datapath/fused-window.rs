//! NVIDIA: products and c aligned to one quantum, cut, summed, rounded once (numerics 4.1).

use crate::addend::Addend;
use crate::events::{self, Events};
use crate::mutants::{self, Mutant};
use crate::round::finish;
use crate::spec::{FusedWindow, Output, Rounding};
use crate::special::{product_overflow, special};
use crate::sum::Sum;
use crate::terms::{NO_EXPONENT, Terms};
use crate::unit::Unit;

/// The constants of one window.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    pub fraction: i32,
    pub floor: Option<i32>,
    pub alignment: Rounding,
    pub zero_addend_exponent: Option<i32>,
    pub product_overflow: Option<i32>,
    pub output: &'a Output,
}

/// One block step from c's word to d's.
pub fn step<S: Sum>(window: &Window<'_>, unit: &Unit, terms: &Terms<'_>, c: u64, events: &mut Events) -> u64 {
    let found = terms.scan();
    let c = Addend::decode(window.output.format, c, events);
    if let Some(word) = special(terms, found.flags, Some(&c), window.output, events) {
        return word;
    }
    if let Some(word) = product_overflow(terms, unit.fraction, window.product_overflow, window.output, events)
    {
        return word;
    }
    let mut e = found.e.max(c.term_exponent());
    if e == NO_EXPONENT {
        return 0;
    }
    if let (0, Some(exponent)) = (c.sig, window.zero_addend_exponent) {
        e = e.max(exponent);
    }
    if let Some(floor) = window.floor.filter(|_| !mutants::on(Mutant::NoFloor)) {
        events.note_if(e < floor, events::FLOOR);
        e = e.max(floor);
    }
    let narrow = mutants::on(Mutant::AddendNotWidened) && unit.c.name != unit.d.name && c.sig != 0;
    if narrow {
        e = e.max(unit.c.emin());
    }
    let quantum = e - window.fraction;
    let products = terms.aligned::<S>(unit.fraction, quantum, window.alignment);
    let sum = products.add(c.aligned(quantum, window.alignment));
    finish(sum.value(quantum), window.output, events)
}

pub fn instruction<S: Sum>(
    spec: &FusedWindow,
    unit: &Unit,
    terms: &Terms<'_>,
    c: u64,
    events: &mut Events,
) -> u64 {
    let window = Window {
        fraction: spec.fraction,
        floor: spec.floor,
        alignment: spec.alignment,
        zero_addend_exponent: spec.zero_addend_exponent,
        product_overflow: spec.product_overflow,
        output: &spec.output,
    };
    terms.blocks(spec.block).fold(c, |c, block| step::<S>(&window, unit, &block, c, events))
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &FusedWindow, unit: &Unit) -> i32 {
    unit.window_bits(spec.fraction, spec.block.min(unit.k)).max(unit.product_bits())
}
