//! One IEEE fused multiply-add per term, in order (numerics 4.7).

use super::pairwise::product;
use crate::addend::Addend;
use crate::events::Events;
use crate::ieee::Arithmetic;
use crate::spec::SequentialFma;
use crate::special::special;
use crate::terms::{ABSENT, Terms};
use crate::unit::Unit;

pub fn instruction(
    spec: &SequentialFma,
    unit: &Unit,
    terms: &Terms<'_>,
    mut c: u64,
    events: &mut Events,
) -> u64 {
    let operation =
        Arithmetic { output: &spec.output, rounding: spec.output.rounding, flush: spec.flush_results };
    for term in terms.blocks(1) {
        let (a, b) = (&term.a[0], &term.b[0]);
        if a.flags & ABSENT != 0 {
            continue;
        }
        if spec.flush_inputs {
            c = operation.flushed(c, events);
        }
        let addend = Addend::decode(spec.output.format, c, events);
        c = match special(&term, a.flags | b.flags, Some(&addend), &spec.output, events) {
            Some(word) => word,
            None => operation.add(product(a, b, unit), operation.decode(c), events),
        };
    }
    c
}
