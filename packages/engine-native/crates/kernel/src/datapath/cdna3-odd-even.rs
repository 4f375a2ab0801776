//! AMD CDNA3 FP8: windows of the even and of the odd products, merged, then c (numerics 4.6).

use super::cdna3_window::{LateAddend, Partial, partial};
use crate::addend::Addend;
use crate::events::Events;
use crate::mutants::{self, Mutant};
use crate::spec::Cdna3OddEven;
use crate::special::{product_overflow, special};
use crate::sum::Sum;
use crate::terms::{NO_EXPONENT, Terms};
use crate::unit::Unit;

pub fn instruction<S: Sum>(
    spec: &Cdna3OddEven,
    unit: &Unit,
    terms: &Terms<'_>,
    c: u64,
    events: &mut Events,
) -> u64 {
    terms.blocks(spec.block).fold(c, |c, block| step::<S>(spec, unit, &block, c, events))
}

/// The order in which lines hold an instruction's positions: of each block the even ones, then the odd ones.
pub fn order(spec: &Cdna3OddEven, k: usize) -> Vec<usize> {
    let blocks = (0..k).step_by(spec.block).map(|start| start..k.min(start + spec.block));
    blocks.flat_map(|block| block.clone().step_by(2).chain(block.skip(1).step_by(2))).collect()
}

fn step<S: Sum>(spec: &Cdna3OddEven, unit: &Unit, terms: &Terms<'_>, c: u64, events: &mut Events) -> u64 {
    let c = Addend::decode(spec.output.format, c, events);
    let middle = terms.a.len().div_ceil(2);
    let halves = [terms.range(0, middle), terms.range(middle, terms.a.len())];
    let mut found = halves.map(|half| half.scan());
    if mutants::on(Mutant::NoOddEven) {
        found = [terms.scan(); 2];
    }
    let flags = found[0].flags | found[1].flags;
    if let Some(word) = special(terms, flags, Some(&c), &spec.output, events) {
        return word;
    }
    if let Some(word) = product_overflow(terms, unit.fraction, spec.product_overflow, &spec.output, events) {
        return word;
    }
    let window = (spec.fraction, spec.floor, spec.alignment);
    let [even, odd] = [0, 1].map(|i| partial::<S>(&halves[i], found[i].e, window, unit, events));
    let late = LateAddend {
        zero_addend_exponent: spec.zero_addend_exponent,
        addend_fraction: spec.addend_fraction,
        addend_rounding: spec.addend_rounding,
        addend_reach: spec.addend_reach,
        sum_fraction: spec.sum_fraction,
        sum_rounding: spec.sum_rounding,
        normal_fraction: spec.normal_fraction,
        normal_rounding: spec.normal_rounding,
        output: &spec.output,
    };
    late.add(merge(spec, even, odd), &c, events)
}

/// Both sums cut to 2^(E - mergeFraction), E the larger exponent, and added. A sum without terms adds nothing.
fn merge<S: Sum>(spec: &Cdna3OddEven, even: Partial<S>, odd: Partial<S>) -> Partial<S> {
    let e = even.e.max(odd.e);
    if e == NO_EXPONENT {
        return even;
    }
    let uncut = mutants::on(Mutant::MergeUncut);
    let cut = if uncut { even.quantum.min(odd.quantum).max(e - 40) } else { e - spec.merge_fraction };
    let present = [even, odd].into_iter().filter(|x| x.e != NO_EXPONENT);
    // A sum already coarser than the cut is unchanged by it; both are then counted in the finer unit.
    let quantum = present.clone().map(|x| x.quantum.max(cut)).min().unwrap_or(cut);
    let sum = present.fold(S::ZERO, |sum, x| {
        let at = x.quantum.max(cut);
        sum.add(x.sum.shift(x.quantum - at, spec.merge_rounding).shift(at - quantum, spec.merge_rounding))
    });
    Partial { sum, quantum, e }
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &Cdna3OddEven, unit: &Unit) -> i32 {
    let fraction = spec.fraction.max(spec.addend_fraction).max(spec.sum_fraction).max(spec.merge_fraction);
    (unit.window_bits(fraction, spec.block.min(unit.k)) + 1).max(unit.product_bits())
}
