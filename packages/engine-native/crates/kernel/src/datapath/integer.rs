//! Exact sums over integers, wrapped or clamped once an instruction (numerics 4.8).

use crate::events::{self, Events};
use crate::mutants::{self, Mutant};
use crate::spec::{IntegerSum, Overflow};
use crate::terms::Terms;

pub fn instruction(spec: &IntegerSum, terms: &Terms<'_>, c: u64, events: &mut Events) -> u64 {
    let start = i64::from(c as u32 as i32);
    let sum = terms.a.iter().zip(terms.b).fold(start, |sum, (a, b)| sum + a.sig * b.sig);
    let clamped = sum.clamp(i32::MIN.into(), i32::MAX.into());
    events.note_if(clamped != sum, events::SATURATED);
    let word = match spec.overflow {
        Overflow::Saturate if mutants::on(Mutant::NoSaturation) => sum as u32,
        Overflow::Wrap => sum as u32,
        Overflow::Saturate => clamped as u32,
    };
    word.into()
}
