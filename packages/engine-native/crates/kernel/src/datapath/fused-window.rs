//! NVIDIA: products and c aligned to one quantum, cut, summed, rounded once (numerics 4.1).

use super::Scratch;
use crate::addend::Addend;
use crate::events::{self, Events};
use crate::round::finish;
use crate::spec::{FusedWindow, Output, Rounding};
use crate::special::{product_overflow, special};
use crate::sum::Sum;
use crate::terms::{NO_EXPONENT, Terms, gather};
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

/// One block step over the terms at `indices`, from c's word to d's.
pub fn step<S: Sum>(
    window: &Window<'_>,
    unit: &Unit,
    terms: &Terms<'_>,
    indices: impl Iterator<Item = usize> + Clone,
    c: u64,
    scratch: &mut Scratch<S>,
    events: &mut Events,
) -> u64 {
    let products = &mut scratch.products;
    let found = gather::<S>(terms, indices.clone(), products);
    let c = Addend::decode(window.output.format, c, events);
    if let Some(word) = special(terms, indices, found.flags, Some(&c), window.output, events) {
        return word;
    }
    if let Some(word) =
        product_overflow(products, unit.fraction, window.product_overflow, window.output, events)
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
    if let Some(floor) = window.floor {
        events.note_if(e < floor, events::FLOOR);
        e = e.max(floor);
    }
    let quantum = e - window.fraction;
    let mut sum = S::place(S::sig(c.sig), if c.sig == 0 { 0 } else { c.lsb - quantum }, window.alignment);
    for product in products.iter() {
        sum = sum.add(S::place(product.sig, product.e - unit.fraction - quantum, window.alignment));
    }
    finish(sum.value(quantum), window.output, events)
}

pub fn instruction<S: Sum>(
    spec: &FusedWindow,
    unit: &Unit,
    terms: &Terms<'_>,
    mut c: u64,
    scratch: &mut Scratch<S>,
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
    let mut k = 0;
    while k < terms.len() {
        let end = (k + spec.block).min(terms.len());
        c = step(&window, unit, terms, k..end, c, scratch, events);
        k = end;
    }
    c
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &FusedWindow, unit: &Unit) -> i32 {
    unit.window_bits(spec.fraction, spec.block.min(unit.k)).max(unit.product_bits())
}
