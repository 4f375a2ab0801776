//! Formats as data, and the decoding of a word to (sig, lsb, e).

use serde::Deserialize;

/// How the codes beyond the finite numbers are spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// All-ones exponent: Inf and NaN as IEEE 754 has them.
    Ieee,
    /// Only all-ones exponent with all-ones fraction is NaN; no Inf.
    NanOnly,
    /// Only the sign bit alone is NaN; no Inf, no negative zero.
    Fnuz,
    /// Every code is a finite number.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Float,
    /// A power-of-two scale, value 2^(x - bias) for every x; all ones is NaN.
    Exponent,
    Integer,
}

/// A format's own fields; everything else is derived from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub name: &'static str,
    pub kind: Kind,
    pub signed: bool,
    pub exponent_bits: u32,
    pub fraction_bits: u32,
    pub bias: i32,
    pub specials: Specials,
    /// Low bits of the word cleared before anything is classified.
    pub dropped_bits: u32,
    /// Bits of the word that carries one element: 8, 16, 32 or 64.
    pub word_bits: u32,
}

const fn float(
    name: &'static str,
    exponent_bits: u32,
    fraction_bits: u32,
    bias: i32,
    specials: Specials,
    word_bits: u32,
) -> Format {
    Format {
        name,
        kind: Kind::Float,
        signed: true,
        exponent_bits,
        fraction_bits,
        bias,
        specials,
        dropped_bits: 0,
        word_bits,
    }
}

const fn integer(name: &'static str, signed: bool, word_bits: u32) -> Format {
    Format {
        name,
        kind: Kind::Integer,
        signed,
        exponent_bits: 0,
        fraction_bits: 0,
        bias: 0,
        specials: Specials::None,
        dropped_bits: 0,
        word_bits,
    }
}

pub const FP64: Format = float("fp64", 11, 52, 1023, Specials::Ieee, 64);
pub const FP32: Format = float("fp32", 8, 23, 127, Specials::Ieee, 32);
pub const TF32: Format = Format { dropped_bits: 13, ..float("tf32", 8, 10, 127, Specials::Ieee, 32) };
pub const BF16: Format = float("bf16", 8, 7, 127, Specials::Ieee, 16);
pub const FP16: Format = float("fp16", 5, 10, 15, Specials::Ieee, 16);
pub const E5M2: Format = float("e5m2", 5, 2, 15, Specials::Ieee, 8);
pub const E4M3: Format = float("e4m3", 4, 3, 7, Specials::NanOnly, 8);
pub const E5M2FNUZ: Format = float("e5m2fnuz", 5, 2, 16, Specials::Fnuz, 8);
pub const E4M3FNUZ: Format = float("e4m3fnuz", 4, 3, 8, Specials::Fnuz, 8);
pub const E3M2: Format = float("e3m2", 3, 2, 3, Specials::None, 8);
pub const E2M3: Format = float("e2m3", 2, 3, 1, Specials::None, 8);
pub const E2M1: Format = float("e2m1", 2, 1, 1, Specials::None, 8);
pub const UE4M3: Format = Format { signed: false, ..float("ue4m3", 4, 3, 7, Specials::NanOnly, 8) };
pub const UE8M0: Format =
    Format { kind: Kind::Exponent, signed: false, ..float("ue8m0", 8, 0, 127, Specials::NanOnly, 8) };
pub const S8: Format = integer("s8", true, 8);
pub const U8: Format = integer("u8", false, 8);
pub const S32: Format = integer("s32", true, 32);

/// Every format of numerics section 1.
pub const FORMATS: [&Format; 17] = [
    &FP64, &FP32, &TF32, &BF16, &FP16, &E5M2, &E4M3, &E5M2FNUZ, &E4M3FNUZ, &E3M2, &E2M3, &E2M1, &UE4M3,
    &UE8M0, &S8, &U8, &S32,
];

impl<'de> Deserialize<'de> for &'static Format {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let name = String::deserialize(input)?;
        FORMATS
            .into_iter()
            .find(|format| format.name == name)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown format {name:?}")))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Finite,
    Infinite,
    Nan,
}

/// A word as (sig, lsb, e): value (-1)^negative * sig * 2^lsb, e the encoded exponent max(x - bias, emin).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    pub class: Class,
    pub negative: bool,
    pub sig: u64,
    pub lsb: i32,
    pub e: i32,
}

impl Format {
    pub const fn word_bytes(&self) -> usize {
        (self.word_bits / 8) as usize
    }

    /// Exponent of the subnormals and of the smallest normal.
    pub const fn emin(&self) -> i32 {
        1 - self.bias
    }

    /// Exponent of the largest finite number of an IEEE-like format.
    pub const fn emax(&self) -> i32 {
        (1 << self.exponent_bits) - 2 - self.bias
    }

    /// Position of the sign above the magnitude's exponent, fraction and dropped bits.
    const fn magnitude_bits(&self) -> u32 {
        self.exponent_bits + self.fraction_bits + self.dropped_bits
    }

    /// The word of an infinity of this sign; only formats that have one are outputs.
    pub fn infinity(&self, negative: bool) -> u64 {
        let exponent = ((1u64 << self.exponent_bits) - 1) << (self.fraction_bits + self.dropped_bits);
        exponent | self.sign(negative)
    }

    pub fn sign(&self, negative: bool) -> u64 {
        u64::from(negative) << self.magnitude_bits()
    }

    /// Decodes the element's bits; bits above the element's width are ignored.
    pub fn decode(&self, word: u64) -> Decoded {
        match self.kind {
            Kind::Integer => {
                let shift = 64 - self.word_bits;
                let value = if self.signed {
                    ((word << shift) as i64) >> shift
                } else {
                    (word << shift >> shift) as i64
                };
                Decoded { class: Class::Finite, negative: value < 0, sig: value.unsigned_abs(), lsb: 0, e: 0 }
            }
            Kind::Exponent => {
                let x = word & 0xff;
                let e = x as i32 - self.bias;
                let class = if x == 0xff { Class::Nan } else { Class::Finite };
                Decoded { class, negative: false, sig: 1, lsb: e, e }
            }
            Kind::Float => self.decode_float(word),
        }
    }

    fn decode_float(&self, word: u64) -> Decoded {
        let bits = word >> self.dropped_bits;
        let ones = (1u64 << self.exponent_bits) - 1;
        let fraction_ones = (1u64 << self.fraction_bits) - 1;
        let fraction = bits & fraction_ones;
        let x = (bits >> self.fraction_bits) & ones;
        let negative = self.signed && (bits >> (self.exponent_bits + self.fraction_bits)) & 1 == 1;
        let class = match self.specials {
            Specials::Ieee if x == ones && fraction == 0 => Class::Infinite,
            Specials::Ieee if x == ones => Class::Nan,
            Specials::NanOnly if x == ones && fraction == fraction_ones => Class::Nan,
            Specials::Fnuz if negative && x == 0 && fraction == 0 => Class::Nan,
            _ => Class::Finite,
        };
        let sig = if x == 0 { fraction } else { fraction | (1 << self.fraction_bits) };
        let e = if x == 0 { self.emin() } else { x as i32 - self.bias };
        Decoded { class, negative, sig, lsb: e - self.fraction_bits as i32, e }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(format: &Format, word: u64) -> f64 {
        let x = format.decode(word);
        match x.class {
            Class::Nan => f64::NAN,
            Class::Infinite => f64::INFINITY * if x.negative { -1.0 } else { 1.0 },
            Class::Finite => x.sig as f64 * 2f64.powi(x.lsb) * if x.negative { -1.0 } else { 1.0 },
        }
    }

    #[test]
    fn landmarks_of_every_format() {
        assert_eq!(value(&FP32, 0x3fc0_0000), 1.5);
        assert_eq!(value(&FP32, 1), 2f64.powi(-149));
        assert_eq!(value(&TF32, 0x7f80_1fff), f64::INFINITY);
        assert!(value(&TF32, 0x7f80_2000).is_nan());
        assert_eq!(value(&BF16, 0xbf80), -1.0);
        assert_eq!(value(&FP16, 0x7bff), 65504.0);
        assert_eq!(value(&E5M2, 0x7b), 57344.0);
        assert_eq!(value(&E5M2, 0x7c), f64::INFINITY);
        assert_eq!(value(&E4M3, 0x7e), 448.0);
        assert!(value(&E4M3, 0xff).is_nan());
        assert_eq!(value(&E5M2FNUZ, 0x7f), 57344.0);
        assert_eq!(value(&E4M3FNUZ, 0x7f), 240.0);
        assert!(value(&E4M3FNUZ, 0x80).is_nan());
        assert_eq!(value(&E3M2, 0x1f), 28.0);
        assert_eq!(value(&E2M3, 0x1f), 7.5);
        assert_eq!(value(&E2M1, 0x0f), -6.0);
        assert_eq!(value(&UE4M3, 0xfe), 448.0);
        assert!(value(&UE4M3, 0x7f).is_nan());
        assert_eq!(value(&UE8M0, 0), 2f64.powi(-127));
        assert!(value(&UE8M0, 0xff).is_nan());
        assert_eq!(value(&S8, 0x80), -128.0);
        assert_eq!(value(&U8, 0x80), 128.0);
        assert_eq!(value(&S32, 0xffff_ffff), -1.0);
    }

    #[test]
    fn encoded_exponent_of_a_subnormal_is_emin() {
        assert_eq!(
            FP16.decode(1),
            Decoded { class: Class::Finite, negative: false, sig: 1, lsb: -24, e: -14 }
        );
        assert_eq!(E2M1.decode(0x9), Decoded { class: Class::Finite, negative: true, sig: 1, lsb: -1, e: 0 });
    }
}
