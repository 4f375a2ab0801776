//! Decoding of words for packing: value, exponents, sign, class.

use crate::params::Format;

/// A decoded word. `value` is exact (every format here but fp32's own range fits fp32, and fp32 is itself).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Element {
    /// The value; 0 where `finite` is false.
    pub value: f32,
    /// Encoded exponent max(x - bias, 1 - bias); meaningless where zero.
    pub e: i32,
    /// Exponent of the lowest set bit; meaningless where zero.
    pub low: i32,
    pub negative: bool,
    pub zero: bool,
    pub finite: bool,
}

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

    #[inline(always)]
    pub fn decode(&self, word: u32) -> Element {
        let w = word >> self.dropped;
        let top = (1u32 << self.exponent_bits) - 1;
        let fraction = w & ((1 << self.fraction_bits) - 1);
        let x = w >> self.fraction_bits & top;
        let negative = w >> (self.exponent_bits + self.fraction_bits) & 1 == 1;
        let finite = match self.specials {
            Specials::Ieee => x != top,
            Specials::NanOnly => !(x == top && fraction + 1 == 1 << self.fraction_bits),
            Specials::Fnuz => !(negative && x == 0 && fraction == 0),
            Specials::None => true,
        };
        let significand = if x == 0 { fraction } else { fraction | 1 << self.fraction_bits };
        if !finite || significand == 0 {
            return Element { value: 0.0, e: 0, low: 0, negative, zero: true, finite };
        }
        let e = (x as i32 - self.bias).max(self.emin());
        let lsb = e - self.fraction_bits as i32;
        let magnitude = scale(significand, lsb);
        Element {
            value: f32::from_bits(magnitude | u32::from(negative) << 31),
            e,
            low: lsb + significand.trailing_zeros() as i32,
            negative,
            zero: false,
            finite,
        }
    }
}

/// The fp32 word of significand * 2^lsb; the value is representable (significand of at most 24 bits, lsb >= -149).
#[inline(always)]
fn scale(significand: u32, lsb: i32) -> u32 {
    let lead = 31 - significand.leading_zeros() as i32;
    let e = lsb + lead;
    if e >= -126 {
        ((e + 127) as u32) << 23 | (significand << (23 - lead) & 0x007F_FFFF)
    } else {
        significand << (lsb + 149)
    }
}
