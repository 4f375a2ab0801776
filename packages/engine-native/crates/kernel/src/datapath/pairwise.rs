//! AMD CDNA2 fp16, bf16: rounded products added as a balanced tree, then c (numerics 4.4).

use crate::addend::Addend;
use crate::events::Events;
use crate::format::Class;
use crate::ieee::{Arithmetic, Exact};
use crate::spec::Pairwise;
use crate::special::special;
use crate::terms::{ABSENT, Elem, NEGATIVE, Terms};
use crate::unit::Unit;

pub fn instruction(
    spec: &Pairwise,
    unit: &Unit,
    terms: &Terms<'_>,
    mut c: u64,
    words: &mut Vec<u64>,
    events: &mut Events,
) -> u64 {
    let mut k = 0;
    while k < terms.len() {
        let end = (k + spec.block).min(terms.len());
        c = step(spec, unit, terms, k..end, c, words, events);
        k = end;
    }
    c
}

fn step(
    spec: &Pairwise,
    unit: &Unit,
    terms: &Terms<'_>,
    indices: std::ops::Range<usize>,
    c: u64,
    words: &mut Vec<u64>,
    events: &mut Events,
) -> u64 {
    let operation =
        Arithmetic { output: &spec.output, rounding: spec.output.rounding, flush: spec.flush_results };
    let c = if spec.flush_inputs { operation.flushed(c, events) } else { c };
    let addend = Addend::decode(spec.output.format, c, events);
    let flags = indices.clone().fold(0, |flags, i| flags | terms.a[i].flags | terms.b[i].flags);
    if let Some(word) = special(terms, indices.clone(), flags, Some(&addend), &spec.output, events) {
        return word;
    }
    words.clear();
    for i in indices.filter(|&i| terms.a[i].flags & ABSENT == 0) {
        words.push(operation.convert(product(terms.a[i], terms.b[i], unit), events));
    }
    while words.len() > 1 {
        let pairs = words.len().div_ceil(2);
        for i in 0..pairs {
            // A leaf without a partner, where the instruction's end cuts a block short, goes up as it is.
            words[i] = match words.get(2 * i + 1) {
                Some(&right) => {
                    operation.add(operation.decode(words[2 * i]), operation.decode(right), events)
                }
                None => words[2 * i],
            };
        }
        words.truncate(pairs);
    }
    let tree = words.first().copied().unwrap_or(0);
    operation.add(operation.decode(c), operation.decode(tree), events)
}

/// The exact product of two finite elements.
pub fn product(a: Elem, b: Elem, unit: &Unit) -> Exact {
    Exact {
        class: Class::Finite,
        negative: (a.flags ^ b.flags) & NEGATIVE != 0,
        sig: u128::from(a.sig.unsigned_abs()) * u128::from(b.sig.unsigned_abs()),
        lsb: a.e + b.e - unit.fraction,
    }
}
