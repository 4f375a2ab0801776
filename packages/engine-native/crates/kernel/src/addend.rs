//! The accumulator c between two block steps.

use crate::events::{self, Events};
use crate::format::{Class, Format};
use crate::mutants::{self, Mutant};
use crate::round::{Value, round};
use crate::spec::{Output, Rounding, Underflow};
use crate::sum::Sum;
use crate::terms::NO_EXPONENT;

/// c of one block step: value sig * 2^lsb, e its encoded exponent.
#[derive(Clone, Copy, Debug)]
pub struct Addend {
    pub class: Class,
    pub negative: bool,
    pub sig: i64,
    pub e: i32,
    pub lsb: i32,
}

impl Addend {
    pub fn decode(format: &Format, word: u64, events: &mut Events) -> Addend {
        let x = format.decode(word);
        let sig = x.sig as i64;
        let subnormal = sig != 0 && sig >> format.fraction_bits == 0;
        events.note_if(subnormal && x.class == Class::Finite, events::SUBNORMAL_ADDEND);
        let value_exponent = x.lsb + 63 - x.sig.leading_zeros() as i32;
        let e = if subnormal && mutants::on(Mutant::SubnormalAddendExponent) { value_exponent } else { x.e };
        Addend {
            class: x.class,
            negative: x.negative,
            sig: if x.negative { -sig } else { sig },
            e,
            lsb: x.lsb,
        }
    }

    /// c in units of 2^quantum, cut by `mode`.
    pub fn aligned<S: Sum>(&self, quantum: i32, mode: Rounding) -> S {
        let mode = if mutants::on(Mutant::AddendCutDown) { Rounding::Down } else { mode };
        if self.sig == 0 { S::ZERO } else { S::place(S::sig(self.sig), self.lsb - quantum, mode) }
    }

    /// Exponent among the terms of a window: none where c = 0.
    pub fn term_exponent(&self) -> i32 {
        if self.sig == 0 { NO_EXPONENT } else { self.e }
    }
}

/// c's word in the output's format, exactly: the format of c is the output's or one whose values it holds.
pub fn widen(word: u64, from: &Format, output: &Output, events: &mut Events) -> u64 {
    if from.name == output.format.name {
        return word;
    }
    let x = from.decode(word);
    match x.class {
        Class::Nan => output.nan,
        Class::Infinite => output.format.infinity(x.negative),
        Class::Finite if x.sig == 0 => output.format.sign(x.negative),
        Class::Finite => {
            let value = Value { negative: x.negative, mag: x.sig.into(), lsb: x.lsb, sticky: false };
            let full = output.format.fraction_bits;
            round(value, output.format, Rounding::Zero, full, Underflow::Signed, events)
        }
    }
}
