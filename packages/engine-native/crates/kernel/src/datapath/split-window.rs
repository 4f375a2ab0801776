//! NVIDIA FP8 mma.sync on sm_90 and sm_100: two fused-window halves, then c in one IEEE addition (numerics section 7).

use super::fused_window::{Window, step};
use crate::events::Events;
use crate::ieee::Arithmetic;
use crate::mutants::{self, Mutant};
use crate::spec::SplitWindow;
use crate::sum::Sum;
use crate::terms::Terms;
use crate::unit::Unit;

pub fn instruction<S: Sum>(
    spec: &SplitWindow,
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
    let clear = clear(spec.select_bit, unit.k);
    let halves = [terms.range(0, clear), terms.range(clear, unit.k)];
    let blocks = halves.into_iter().flat_map(|half| half.blocks(spec.block));
    let sum = blocks.fold(0, |sum, block| step::<S>(&window, unit, &block, sum, events));
    let addition = Arithmetic { output: &spec.output, rounding: spec.addition, flush: false };
    addition.add(addition.decode(sum), addition.decode(c), events)
}

/// How many of the positions 0..k have the bit clear.
fn clear(bit: u32, k: usize) -> usize {
    let half = 1 << bit;
    k / (2 * half) * half + (k % (2 * half)).min(half)
}

/// The order in which lines hold an instruction's positions: those with the bit clear, then those with it set.
pub fn order(spec: &SplitWindow, k: usize) -> Vec<usize> {
    let half = |bit| (0..k).filter(move |k| k >> spec.select_bit & 1 == bit);
    let first = usize::from(mutants::on(Mutant::HalvesSwapped));
    half(first).chain(half(1 - first)).collect()
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &SplitWindow, unit: &Unit) -> i32 {
    unit.window_bits(spec.fraction, spec.block.min(unit.k)).max(unit.product_bits())
}

#[cfg(test)]
mod tests {
    use super::clear;

    #[test]
    fn counts_positions_with_the_bit_clear() {
        for (bit, k) in (0..5).flat_map(|bit| (1..70).map(move |k| (bit, k))) {
            assert_eq!(clear(bit, k), (0..k).filter(|x| x >> bit & 1 == 0).count());
        }
    }
}
