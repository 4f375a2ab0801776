//! AMD CDNA1 fp16, bf16: the exact sum of products and c, rounded once (numerics 4.3).

use super::Scratch;
use crate::addend::Addend;
use crate::events::{self, Events};
use crate::round::{Value, finish};
use crate::spec::{Exact, Rounding};
use crate::special::special;
use crate::sum::Sum;
use crate::terms::{Product, Terms, gather};
use crate::unit::{Unit, log2_ceil};

pub fn instruction<S: Sum<Sig = i128>>(
    spec: &Exact,
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

fn step<S: Sum<Sig = i128>>(
    spec: &Exact,
    unit: &Unit,
    terms: &Terms<'_>,
    indices: std::ops::Range<usize>,
    c: u64,
    scratch: &mut Scratch<S>,
    events: &mut Events,
) -> u64 {
    let products = &mut scratch.products;
    let found = gather::<S>(terms, indices.clone(), products);
    let c = Addend::decode(spec.output.format, c, events);
    if let Some(word) = special(terms, indices, found.flags, Some(&c), &spec.output, events) {
        return word;
    }
    if c.sig != 0 {
        products.push(Product { sig: c.sig.into(), e: c.lsb + unit.fraction });
    }
    let lsb = |product: &Product<i128>| product.e - unit.fraction;
    let lowest = products.iter().map(lsb).min().unwrap_or(0);
    let bits = |product: &Product<i128>| 128 - product.sig.unsigned_abs().leading_zeros() as i32;
    let highest = products.iter().map(|product| lsb(product) + bits(product)).max().unwrap_or(0);
    // A sum of n terms below 2^w stays below 2^(w + log2 n); one bit more for the sign.
    let sum = if highest - lowest + log2_ceil(products.len()) < 128 {
        total::<i128>(products, unit, lowest)
    } else {
        events.note(events::WIDE_SUM);
        total::<S>(products, unit, lowest)
    };
    finish(sum, &spec.output, events)
}

fn total<S: Sum<Sig = i128>>(products: &[Product<i128>], unit: &Unit, lowest: i32) -> Option<Value> {
    products
        .iter()
        .fold(S::ZERO, |sum, x| sum.add(S::place(x.sig, x.e - unit.fraction - lowest, Rounding::Zero)))
        .value(lowest)
}

/// Bits that a sum needs, with its sign: from the lowest bit of any term to the highest, and the carries.
pub fn width(spec: &Exact, unit: &Unit) -> i32 {
    let (low, high) = unit.exponents;
    let d = unit.d;
    let lowest = (low - unit.fraction).min(d.emin() - d.fraction_bits as i32);
    let highest = (high + unit.factors).max(d.emax() + 1);
    highest - lowest + log2_ceil(spec.block.min(unit.k) + 1) + 1
}
