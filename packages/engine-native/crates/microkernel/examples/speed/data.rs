//! Operands of the benchmark.

use bitmma_microkernel::{Format, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Random finite words.
    Words,
    /// N(0, 1), cast.
    Normal,
    /// Integers -4..4.
    Integers,
}

impl Data {
    pub fn name(self) -> &'static str {
        match self {
            Data::Words => "words",
            Data::Normal => "N(0,1)",
            Data::Integers => "integers",
        }
    }
}

pub enum Matrix {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

/// (exponent bits, fraction bits, container bits below, bias, words of the largest exponent that are not finite)
fn fields(f: Format) -> (u32, u32, u32, i32, fn(u32) -> bool) {
    match f {
        Format::Fp32 => (8, 23, 0, 127, |w| w >> 23 & 255 == 255),
        Format::Tf32 => (8, 10, 13, 127, |w| w >> 23 & 255 == 255),
        Format::Bf16 => (8, 7, 0, 127, |w| w >> 7 & 255 == 255),
        Format::Fp16 => (5, 10, 0, 15, |w| w >> 10 & 31 == 31),
        Format::E5m2 => (5, 2, 0, 15, |w| w >> 2 & 31 == 31),
        Format::E4m3 => (4, 3, 0, 7, |w| w & 127 == 127),
        Format::E5m2Fnuz => (5, 2, 0, 16, |w| w == 128),
        Format::E4m3Fnuz => (4, 3, 0, 8, |w| w == 128),
        Format::E3m2 => (3, 2, 0, 3, |_| false),
        Format::E2m3 => (2, 3, 0, 1, |_| false),
        Format::E2m1 => (2, 1, 0, 1, |_| false),
        Format::S8 | Format::U8 => (4, 3, 0, 0, |_| false),
    }
}

fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *seed;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

fn normal(seed: &mut u64) -> f64 {
    let mut unit = || ((next(seed) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    (-2.0 * unit().ln()).sqrt() * (core::f64::consts::TAU * unit()).cos()
}

pub fn floats(len: usize, mut seed: u64) -> Vec<f32> {
    (0..len).map(|_| normal(&mut seed) as f32).collect()
}

/// v rounded to the format, ties to even; the values here never overflow.
fn cast(v: f64, f: Format) -> u32 {
    let (x, w, dropped, bias, _) = fields(f);
    let sign = u32::from(v.is_sign_negative()) << (x + w);
    let e = ((v.abs().to_bits() >> 52) as i32 - 1023).max(1 - bias);
    let units = (v.abs() * f64::powi(2.0, w as i32 - e)).round_ties_even() as u32;
    let word = if units >> w == 0 { units } else { units + (((e + bias - 1) as u32) << w) };
    let limit = (1 << (x + w)) - 1;
    (sign | word.min(limit)) << dropped
}

impl Matrix {
    pub fn random(f: Format, data: Data, len: usize, mut seed: u64) -> Matrix {
        let (x, w, dropped, _, special) = fields(f);
        let mask = u32::MAX >> (32 - (1 + x + w + dropped));
        let integer = matches!(f, Format::S8 | Format::U8);
        let word = |_| loop {
            let word = match data {
                _ if integer => next(&mut seed) as u32 & 255,
                Data::Words => next(&mut seed) as u32 & mask,
                Data::Normal => cast(normal(&mut seed), f),
                Data::Integers => cast((next(&mut seed) % 9) as f64 - 4.0, f),
            };
            if !special(word) {
                return word;
            }
        };
        let words = (0..len).map(word);
        match 1 + x + w + dropped {
            ..=8 => Matrix::U8(words.map(|w| w as u8).collect()),
            9..=16 => Matrix::U16(words.map(|w| w as u16).collect()),
            _ => Matrix::U32(words.collect()),
        }
    }

    pub fn words(&self) -> Words<'_> {
        match self {
            Matrix::U8(w) => Words::U8(w),
            Matrix::U16(w) => Words::U16(w),
            Matrix::U32(w) => Words::U32(w),
        }
    }
}
