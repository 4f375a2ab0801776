//! Bit layouts of the float formats.

use crate::params::Format;

/// Bits of a binary float format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub exponent_bits: u32,
    pub fraction_bits: u32,
    pub bias: i32,
    pub specials: Specials,
    /// Low bits of the word cleared first.
    pub dropped: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Specials {
    Ieee,
    NanOnly,
    Fnuz,
    None,
}

impl Format {
    /// None for integers.
    pub(crate) fn layout(self) -> Option<Layout> {
        use Specials::{Fnuz, Ieee, NanOnly, None as Finite};
        let (exponent_bits, fraction_bits, bias, specials, dropped) = match self {
            Format::Fp32 => (8, 23, 127, Ieee, 0),
            Format::Tf32 => (8, 10, 127, Ieee, 13),
            Format::Bf16 => (8, 7, 127, Ieee, 0),
            Format::Fp16 => (5, 10, 15, Ieee, 0),
            Format::E5m2 => (5, 2, 15, Ieee, 0),
            Format::E4m3 => (4, 3, 7, NanOnly, 0),
            Format::E5m2Fnuz => (5, 2, 16, Fnuz, 0),
            Format::E4m3Fnuz => (4, 3, 8, Fnuz, 0),
            Format::E3m2 => (3, 2, 3, Finite, 0),
            Format::E2m3 => (2, 3, 1, Finite, 0),
            Format::E2m1 => (2, 1, 1, Finite, 0),
            Format::S8 | Format::U8 => return None,
        };
        Some(Layout { exponent_bits, fraction_bits, bias, specials, dropped })
    }
}

impl Layout {
    /// Bits of a word without container padding.
    pub fn bits(&self) -> u32 {
        1 + self.exponent_bits + self.fraction_bits
    }

    /// Largest encoded exponent of a finite number.
    pub fn emax(&self) -> i32 {
        let top = (1 << self.exponent_bits) - 1;
        top - self.bias - i32::from(self.specials == Specials::Ieee)
    }

    /// Smallest encoded exponent.
    pub fn emin(&self) -> i32 {
        1 - self.bias
    }
}
