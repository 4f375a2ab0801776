//! AMD CDNA3 fp16, bf16, xf32: a window of the products, then c cut to the sum or the sum to c (numerics 4.5).

use crate::addend::Addend;
use crate::events::{self, Events};
use crate::mutants::{self, Mutant};
use crate::round::finish;
use crate::spec::{Cdna3Window, Output, Rounding};
use crate::special::{product_overflow, special};
use crate::sum::Sum;
use crate::terms::{NO_EXPONENT, Terms};
use crate::unit::Unit;

/// A sum of products in quanta of 2^quantum, from terms whose largest exponent is e; e is NO_EXPONENT where there is
/// no term.
#[derive(Clone, Copy)]
pub struct Partial<S> {
    pub sum: S,
    pub quantum: i32,
    pub e: i32,
}

/// How c is added to the products' sum.
pub struct LateAddend<'a> {
    pub zero_addend_exponent: i32,
    pub addend_fraction: i32,
    pub addend_rounding: Rounding,
    pub addend_reach: Option<i32>,
    pub sum_fraction: i32,
    pub sum_rounding: Rounding,
    pub normal_fraction: Option<i32>,
    pub normal_rounding: Rounding,
    pub output: &'a Output,
}

/// Sums products cut to 2^(e - fraction), e their largest exponent, raised to the floor.
pub fn partial<S: Sum>(
    terms: &Terms<'_>,
    e: i32,
    (fraction, floor, alignment): (i32, Option<i32>, Rounding),
    unit: &Unit,
    events: &mut Events,
) -> Partial<S> {
    if e == NO_EXPONENT {
        return Partial { sum: S::ZERO, quantum: 0, e };
    }
    let raised = e.max(floor.unwrap_or(e));
    events.note_if(raised > e, events::FLOOR);
    let quantum = raised - fraction;
    Partial { sum: terms.aligned(unit.fraction, quantum, alignment), quantum, e: raised }
}

impl LateAddend<'_> {
    /// d's word: c added to the products' sum, normalised and cut where c dominates, rounded.
    pub fn add<S: Sum>(&self, partial: Partial<S>, c: &Addend, events: &mut Events) -> u64 {
        let none = mutants::on(Mutant::NoZeroAddendExponent);
        let zero = if none { NO_EXPONENT } else { self.zero_addend_exponent };
        let c_exponent = if c.sig == 0 { zero } else { c.e };
        if partial.e < c_exponent {
            events.note_if(c.sig != 0 && partial.e != NO_EXPONENT, events::ADDEND_DOMINANT);
            self.to_dominant(partial, c, c_exponent, events)
        } else {
            self.to_products(partial, c, c_exponent, events)
        }
    }

    fn to_dominant<S: Sum>(&self, partial: Partial<S>, c: &Addend, e: i32, events: &mut Events) -> u64 {
        let wanted = e - self.sum_fraction;
        let (sum, at) = if partial.e == NO_EXPONENT {
            (S::ZERO, c.lsb)
        } else if wanted > partial.quantum && !mutants::on(Mutant::SumUncut) {
            (partial.sum.shift(partial.quantum - wanted, self.sum_rounding), wanted)
        } else {
            (partial.sum, partial.quantum)
        };
        let quantum = if c.sig == 0 { at } else { at.min(c.lsb) };
        let total = sum.shift(at - quantum, self.sum_rounding).add(c.aligned(quantum, self.sum_rounding));
        let Some(value) = total.value(quantum) else {
            return finish(None, self.output, events);
        };
        // Subnormal-aware normalisation: the leading exponent is not below the output's least exponent.
        let lead = value.lead().max(self.output.format.emin());
        match self.normal_fraction.map(|fraction| lead - fraction) {
            Some(cut) if cut > quantum && !mutants::on(Mutant::NormalUncut) => {
                events.note(events::NORMALISED_CUT);
                finish(total.shift(quantum - cut, self.normal_rounding).value(cut), self.output, events)
            }
            _ => finish(Some(value), self.output, events),
        }
    }

    fn to_products<S: Sum>(&self, partial: Partial<S>, c: &Addend, e: i32, events: &mut Events) -> u64 {
        let Partial { sum, quantum, .. } = partial;
        let beyond = !mutants::on(Mutant::EndlessReach)
            && self.addend_reach.is_some_and(|reach| partial.e - e > reach);
        events.note_if(beyond && c.sig != 0, events::ADDEND_OUT_OF_REACH);
        if c.sig == 0 || beyond {
            return finish(sum.value(quantum), self.output, events);
        }
        let cut = partial.e - self.addend_fraction;
        let lowest = quantum.min(cut);
        let addend: S = c.aligned(cut, self.addend_rounding);
        let total = sum
            .shift(quantum - lowest, self.addend_rounding)
            .add(addend.shift(cut - lowest, self.addend_rounding));
        finish(total.value(lowest), self.output, events)
    }
}

pub fn instruction<S: Sum>(
    spec: &Cdna3Window,
    unit: &Unit,
    terms: &Terms<'_>,
    c: u64,
    events: &mut Events,
) -> u64 {
    terms.blocks(spec.block).fold(c, |c, block| step::<S>(spec, unit, &block, c, events))
}

fn step<S: Sum>(spec: &Cdna3Window, unit: &Unit, terms: &Terms<'_>, c: u64, events: &mut Events) -> u64 {
    let found = terms.scan();
    let c = Addend::decode(spec.output.format, c, events);
    if let Some(word) = special(terms, found.flags, Some(&c), &spec.output, events) {
        return word;
    }
    if let Some(word) = product_overflow(terms, unit.fraction, spec.product_overflow, &spec.output, events) {
        return word;
    }
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
    let window = (spec.fraction, spec.floor, spec.alignment);
    let sum = partial::<S>(terms, found.e, window, unit, events);
    late.add(sum, &c, events)
}

/// Bits that a sum needs, with its sign.
pub fn width(spec: &Cdna3Window, unit: &Unit) -> i32 {
    let fraction = spec.fraction.max(spec.addend_fraction).max(spec.sum_fraction);
    (unit.window_bits(fraction, spec.block.min(unit.k)) + 1).max(unit.product_bits())
}
