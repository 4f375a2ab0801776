//! AMD CDNA3 FP8: windows of the even and of the odd products, merged, then c (numerics 4.6).

use super::Scratch;
use super::cdna3_window::{LateAddend, Partial, partial};
use crate::addend::Addend;
use crate::events::Events;
use crate::spec::Cdna3OddEven;
use crate::special::{product_overflow, special};
use crate::sum::Sum;
use crate::terms::{NO_EXPONENT, SPECIAL, Terms, gather};
use crate::unit::Unit;

pub fn instruction<S: Sum>(
    spec: &Cdna3OddEven,
    unit: &Unit,
    terms: &Terms<'_>,
    mut c: u64,
    scratch: &mut Scratch<S>,
    events: &mut Events,
) -> u64 {
    let mut k = 0;
    while k < terms.len() {
        let end = (k + spec.block).min(terms.len());
        c = step(spec, unit, terms, k..end, c, scratch, events);
        k = end;
    }
    c
}

fn step<S: Sum>(
    spec: &Cdna3OddEven,
    unit: &Unit,
    terms: &Terms<'_>,
    indices: std::ops::Range<usize>,
    c: u64,
    scratch: &mut Scratch<S>,
    events: &mut Events,
) -> u64 {
    let c = Addend::decode(spec.output.format, c, events);
    let flags = indices.clone().fold(0, |flags, i| flags | terms.a[i].flags | terms.b[i].flags) & SPECIAL;
    if let Some(word) = special(terms, indices.clone(), flags, Some(&c), &spec.output, events) {
        return word;
    }
    let products = &mut scratch.products;
    if spec.product_overflow.is_some() {
        gather::<S>(terms, indices.clone(), products);
        if let Some(word) =
            product_overflow(products, unit.fraction, spec.product_overflow, &spec.output, events)
        {
            return word;
        }
    }
    let window = (spec.fraction, spec.floor, spec.alignment);
    let mut half = |parity: usize, events: &mut Events| {
        let found = gather::<S>(terms, indices.clone().skip(parity).step_by(2), products);
        partial::<S>(products, found.e, window, unit, events)
    };
    let (even, odd) = (half(0, events), half(1, events));
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
    let cut = e - spec.merge_fraction;
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
