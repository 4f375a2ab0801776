//! AMD CDNA1 fp16, bf16: the exact sum of products and c, rounded once (numerics 4.3).

use crate::addend::Addend;
use crate::events::{self, Events};
use crate::mutants::{self, Mutant};
use crate::round::{Value, finish};
use crate::spec::{Exact, Rounding};
use crate::special::special;
use crate::sum::Sum;
use crate::terms::Terms;
use crate::unit::{Unit, log2_ceil};

pub fn instruction<S: Sum<Sig = i128>>(
    spec: &Exact,
    unit: &Unit,
    terms: &Terms<'_>,
    c: u64,
    events: &mut Events,
) -> u64 {
    terms.blocks(spec.block).fold(c, |c, block| step::<S>(spec, unit, &block, c, events))
}

fn step<S: Sum<Sig = i128>>(
    spec: &Exact,
    unit: &Unit,
    terms: &Terms<'_>,
    c: u64,
    events: &mut Events,
) -> u64 {
    let found = terms.scan();
    let c = Addend::decode(spec.output.format, c, events);
    if let Some(word) = special(terms, found.flags, Some(&c), &spec.output, events) {
        return word;
    }
    let nonzero = terms.pairs().filter(|(a, b)| a.sig != 0 && b.sig != 0);
    let least = nonzero.map(|(a, b)| a.e + b.e).min();
    let least_product = least.map_or(i32::MAX, |e| e - unit.fraction);
    let lowest = least_product.min(if c.sig == 0 { i32::MAX } else { c.lsb });
    if lowest == i32::MAX {
        return finish(None, &spec.output, events);
    }
    // Above every term: a product of two factors below 2 each times 2^e, c below 2 times its own.
    let highest = (found.e + unit.factors).max(c.term_exponent() + 1);
    // A sum of n terms below 2^w stays below 2^(w + log2 n); one bit more for the sign.
    let narrow = highest - lowest + log2_ceil(terms.a.len() + 1) < 128;
    let sum = if narrow || mutants::on(Mutant::NoWideSum) {
        total::<i128>(terms, &c, unit, lowest)
    } else {
        events.note(events::WIDE_SUM);
        total::<S>(terms, &c, unit, lowest)
    };
    finish(sum, &spec.output, events)
}

fn total<S: Sum>(terms: &Terms<'_>, c: &Addend, unit: &Unit, lowest: i32) -> Option<Value> {
    let products = terms.aligned::<S>(unit.fraction, lowest, Rounding::Zero);
    products.add(c.aligned(lowest, Rounding::Zero)).value(lowest)
}

/// Bits that a sum needs, with its sign: from the lowest bit of any term to the highest, and the carries.
pub fn width(spec: &Exact, unit: &Unit) -> i32 {
    let (low, high) = unit.exponents;
    let d = unit.d;
    let lowest = (low - unit.fraction).min(d.emin() - d.fraction_bits as i32);
    let highest = (high + unit.factors).max(d.emax() + 1);
    highest - lowest + log2_ceil(spec.block.min(unit.k) + 1) + 1
}
