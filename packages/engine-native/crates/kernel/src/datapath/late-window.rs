//! The window of the products alone, then c in one IEEE addition (numerics 4.2).

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
    c: u64,
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
    terms.blocks(spec.block).fold(c, |c, block| {
        let sum = step::<S>(&window, unit, &block, 0, events);
        addition.add(addition.decode(sum), addition.decode(c), events)
    })
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &LateWindow, unit: &Unit) -> i32 {
    unit.window_bits(spec.fraction, spec.block.min(unit.k)).max(unit.product_bits())
}
