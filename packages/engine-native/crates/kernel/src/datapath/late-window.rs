//! The window of the products alone, then c in one IEEE addition (numerics 4.2).

use super::Scratch;
use super::fused_window::{Window, step};
use crate::events::Events;
use crate::ieee::Arithmetic;
use crate::spec::LateWindow;
use crate::sum::Sum;
use crate::terms::Terms;
use crate::unit::Unit;

pub fn instruction<S: Sum>(
    spec: &LateWindow,
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
        zero_addend_exponent: None,
        product_overflow: None,
        output: &spec.output,
    };
    let addition = Arithmetic { output: &spec.output, rounding: spec.addition, flush: false };
    let mut k = 0;
    while k < terms.len() {
        let end = (k + spec.block).min(terms.len());
        let sum = step(&window, unit, terms, k..end, 0, scratch, events);
        c = addition.add(addition.decode(sum), addition.decode(c), events);
        k = end;
    }
    c
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &LateWindow, unit: &Unit) -> i32 {
    unit.window_bits(spec.fraction, spec.block.min(unit.k)).max(unit.product_bits())
}
