//! One IEEE fused multiply-add per term, in order (numerics 4.7).

use super::pairwise::product;
use crate::addend::Addend;
use crate::events::{self, Events};
use crate::ieee::Arithmetic;
use crate::spec::SequentialFma;
use crate::special::special;
use crate::terms::{SPECIAL, Terms};
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
    for k in 0..terms.len() {
        let (a, b) = (terms.a[k], terms.b[k]);
        if a.flags & crate::terms::ABSENT != 0 {
            continue;
        }
        if spec.flush_inputs {
            c = operation.flushed(c, events);
        }
        if (a.flags | b.flags) & SPECIAL != 0 {
            let addend = Addend::decode(spec.output.format, c, events);
            if let Some(word) =
                special(terms, k..k + 1, a.flags | b.flags, Some(&addend), &spec.output, events)
            {
                c = word;
                continue;
            }
        }
        let addend = operation.decode(c);
        events.note_if(addend.class != crate::format::Class::Finite, events::NON_FINITE);
        c = operation.add(product(a, b, unit), addend, events);
    }
    c
}
