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
    c: u64,
    words: &mut Vec<u64>,
    events: &mut Events,
) -> u64 {
    terms.blocks(spec.block).fold(c, |c, block| step(spec, unit, &block, c, words, events))
}

fn step(
    spec: &Pairwise,
    unit: &Unit,
    terms: &Terms<'_>,
    c: u64,
    words: &mut Vec<u64>,
    events: &mut Events,
) -> u64 {
    let operation =
        Arithmetic { output: &spec.output, rounding: spec.output.rounding, flush: spec.flush_results };
    let c = if spec.flush_inputs { operation.flushed(c, events) } else { c };
    let addend = Addend::decode(spec.output.format, c, events);
    if let Some(word) = special(terms, terms.scan().flags, Some(&addend), &spec.output, events) {
        return word;
    }
    words.clear();
    for (a, b) in terms.pairs().filter(|(a, _)| a.flags & ABSENT == 0) {
        words.push(operation.convert(product(a, b, unit), events));
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
pub fn product(a: &Elem, b: &Elem, unit: &Unit) -> Exact {
    Exact {
        class: Class::Finite,
        negative: (a.flags ^ b.flags) & NEGATIVE != 0,
        sig: u128::from(a.sig.unsigned_abs()) * u128::from(b.sig.unsigned_abs()),
        lsb: a.e + b.e - unit.fraction,
    }
}
