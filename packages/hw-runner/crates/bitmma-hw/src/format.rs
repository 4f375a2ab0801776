//! Number formats as containers: width, name, and the words that probes need. No arithmetic.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    Fp64,
    Fp32,
    Tf32,
    Bf16,
    Fp16,
    E5m2,
    E4m3,
    E5m2fnuz,
    E4m3fnuz,
    E3m2,
    E2m3,
    E2m1,
    Ue4m3,
    Ue8m0,
    S8,
    U8,
    S32,
}

use Format::*;

impl Format {
    /// Bits of the word that vectors carry (one element a word).
    pub const fn word_bits(self) -> u32 {
        match self {
            Fp64 => 64,
            Fp32 | Tf32 | S32 => 32,
            Bf16 | Fp16 => 16,
            _ => 8,
        }
    }

    /// Bits of the element itself: the rest of its word must be zero.
    pub const fn bits(self) -> u32 {
        match self {
            E3m2 | E2m3 => 6,
            E2m1 => 4,
            other => other.word_bits(),
        }
    }

    /// The token of PTX and MFMA mnemonics as the identifiers write it.
    pub const fn token(self) -> &'static str {
        match self {
            Fp64 => "f64",
            Fp32 => "f32",
            Tf32 => "tf32",
            Bf16 => "bf16",
            Fp16 => "f16",
            E5m2 => "e5m2",
            E4m3 => "e4m3",
            E5m2fnuz => "bf8",
            E4m3fnuz => "fp8",
            E3m2 => "e3m2",
            E2m3 => "e2m3",
            E2m1 => "e2m1",
            Ue4m3 => "ue4m3",
            Ue8m0 => "ue8m0",
            S8 => "s8",
            U8 => "u8",
            S32 => "s32",
        }
    }

    /// A type token of a PTX mnemonic.
    pub fn from_ptx(token: &str) -> Option<Format> {
        [Fp64, Fp32, Tf32, Bf16, Fp16, E5m2, E4m3, E3m2, E2m3, E2m1, Ue4m3, Ue8m0, S8, U8, S32]
            .into_iter()
            .find(|f| f.token() == token)
    }

    /// The word of 2^exponent; `exponent` within the normal range of the format, an integer format takes 0 and 1.
    pub const fn power_of_two(self, exponent: i32) -> u64 {
        let (bias, fraction) = match self {
            Fp64 => (1023, 52),
            Fp32 | Tf32 => (127, 23),
            Bf16 => (127, 7),
            Fp16 => (15, 10),
            E5m2 => (15, 2),
            E4m3 | Ue4m3 => (7, 3),
            E5m2fnuz => (16, 2),
            E4m3fnuz => (8, 3),
            E3m2 => (3, 2),
            E2m3 => (1, 3),
            E2m1 => (1, 1),
            Ue8m0 => (127, 0),
            S8 | U8 | S32 => return 1 << exponent,
        };
        ((exponent + bias) as u64) << fraction
    }

    /// The word of 1.0 (1 for integers).
    pub const fn one(self) -> u64 {
        self.power_of_two(0)
    }

    /// The word of a small non-negative integer that the format holds exactly.
    pub fn small_integer(self, value: u32) -> u64 {
        if value == 0 {
            return 0;
        }
        if matches!(self, S8 | U8 | S32) {
            return u64::from(value);
        }
        let exponent = value.ilog2();
        let fraction = match self {
            Fp64 => 52,
            Fp32 | Tf32 => 23,
            Fp16 => 10,
            Bf16 => 7,
            _ => return self.power_of_two(exponent as i32),
        };
        let low = u64::from(value) ^ (1 << exponent);
        self.power_of_two(exponent as i32) | (low << (fraction - exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one() {
        assert_eq!(Fp32.one(), 0x3f80_0000);
        assert_eq!(Fp64.one(), 0x3ff0_0000_0000_0000);
        assert_eq!(Fp16.one(), 0x3c00);
        assert_eq!(Bf16.one(), 0x3f80);
        assert_eq!(E4m3.one(), 0x38);
        assert_eq!(E5m2.one(), 0x3c);
        assert_eq!(E4m3fnuz.one(), 0x40);
        assert_eq!(E5m2fnuz.one(), 0x40);
        assert_eq!(E3m2.one(), 0x0c);
        assert_eq!(E2m3.one(), 0x08);
        assert_eq!(E2m1.one(), 0x02);
        assert_eq!(Ue8m0.one(), 0x7f);
        assert_eq!(Ue4m3.one(), 0x38);
        assert_eq!(S32.one(), 1);
    }

    #[test]
    fn words_of_small_integers() {
        for v in 0..2048u32 {
            assert_eq!(Fp32.small_integer(v), u64::from((v as f32).to_bits()));
            assert_eq!(Fp64.small_integer(v), f64::from(v).to_bits());
        }
        assert_eq!(Fp16.small_integer(131), 0x5818);
        assert_eq!(S32.small_integer(7), 7);
    }
}
