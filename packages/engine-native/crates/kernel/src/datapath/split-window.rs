//! NVIDIA FP8 mma.sync on sm_90 and sm_100: two fused-window halves, then c in one IEEE addition (numerics section 7).

use super::Scratch;
use super::fused_window::{Window, step};
use crate::events::Events;
use crate::ieee::Arithmetic;
use crate::spec::SplitWindow;
use crate::sum::Sum;
use crate::terms::Terms;
use crate::unit::Unit;

pub fn instruction<S: Sum>(
    spec: &SplitWindow,
    unit: &Unit,
    terms: &Terms<'_>,
    c: u64,
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
    let mut sum = 0;
    for half in 0..2 {
        let selected = (0..terms.len()).filter(move |k| k >> spec.select_bit & 1 == half);
        let count = selected.clone().count();
        for start in (0..count).step_by(spec.block) {
            let indices = selected.clone().skip(start).take(spec.block);
            sum = step(&window, unit, terms, indices, sum, scratch, events);
        }
    }
    let addition = Arithmetic { output: &spec.output, rounding: spec.addition, flush: false };
    addition.add(addition.decode(sum), addition.decode(c), events)
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &SplitWindow, unit: &Unit) -> i32 {
    unit.window_bits(spec.fraction, spec.block.min(unit.k)).max(unit.product_bits())
}
