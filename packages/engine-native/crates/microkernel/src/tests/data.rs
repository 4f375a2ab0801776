//! Words in many data modes.

use crate::params::Format;
use crate::tests::model::width;

/// splitmix64.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// N(0, 1), near enough: a sum of twelve uniforms.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| (self.next() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Any word, specials included.
    Words,
    /// Any finite word.
    Finite,
    /// N(0, 1), cast.
    Normal,
    /// Three neighbouring exponents.
    Narrow,
    /// Narrow, and the second half of K negates the first with slight changes.
    Cancel,
    /// Subnormals, zeros and the smallest normals.
    Subnormal,
    /// Exponents from both ends of the range.
    Huge,
    /// Half the words zero.
    Sparse,
    /// Powers of two over the whole range.
    Powers,
    /// Products around fp32's smallest numbers, where the format has them.
    Tiny,
    /// One exponent, one sign, the largest significands: the largest sums.
    Loud,
    /// Products below fp32's numbers beside zero times the largest exponent, for A and for B.
    Under,
    Over,
}

pub const ALL: [Data; 12] = [
    Data::Words,
    Data::Finite,
    Data::Normal,
    Data::Narrow,
    Data::Cancel,
    Data::Subnormal,
    Data::Huge,
    Data::Sparse,
    Data::Powers,
    Data::Tiny,
    Data::Loud,
    Data::Under,
];

/// (exponent bits, fraction bits, dropped bits)
fn fields(f: Format) -> (u32, u32, u32) {
    match f {
        Format::Fp32 => (8, 23, 0),
        Format::Tf32 => (8, 10, 13),
        Format::Bf16 => (8, 7, 0),
        Format::Fp16 => (5, 10, 0),
        Format::E5m2 | Format::E5m2Fnuz => (5, 2, 0),
        Format::E4m3 | Format::E4m3Fnuz => (4, 3, 0),
        Format::E3m2 => (3, 2, 0),
        Format::E2m3 => (2, 3, 0),
        Format::E2m1 => (2, 1, 0),
        Format::S8 | Format::U8 => (4, 3, 0),
    }
}

fn finite(f: Format, w: u32) -> bool {
    use crate::tests::model::{Value, decode};
    matches!(f, Format::S8 | Format::U8) || matches!(decode(f, w), Value::Finite(..))
}

pub fn word(f: Format, data: Data, rng: &mut Rng) -> u32 {
    let (xb, w, dropped) = fields(f);
    let mask = if width(f) == 32 { u32::MAX } else { (1 << width(f)) - 1 };
    let low = rng.next() as u32 & ((1u32 << dropped) - 1);
    let make = |neg: u64, x: u64, m: u64| {
        let word = ((neg as u32) << xb | x as u32) << w | m as u32;
        (word << dropped | low) & mask
    };
    let top = (1u64 << xb) - 1;
    let bias = top / 2;
    let (neg, m) = (rng.next() & 1, rng.below(1 << w));
    let word = match data {
        Data::Words => rng.next() as u32 & mask,
        Data::Finite => rng.next() as u32 & mask,
        Data::Normal => {
            let v = rng.normal();
            let bits = v.to_bits();
            let e = (bits >> 52 & 0x7FF) as i64 - 1023 + bias as i64;
            if e <= 0 {
                make(neg, 0, m >> (-e).min(20) as u64)
            } else {
                make(bits >> 63, (e as u64).min(top), bits >> (52 - w) & ((1 << w) - 1))
            }
        }
        Data::Narrow | Data::Cancel => make(neg, bias.saturating_sub(1) + rng.below(3).min(top), m),
        Data::Subnormal => make(neg, rng.below(8) / 5, if rng.below(4) == 0 { 0 } else { m }),
        Data::Huge => {
            let x = rng.below(3).min(top);
            make(neg, if rng.next() & 1 == 0 { x } else { top - x }, m)
        }
        Data::Sparse if rng.next() & 1 == 0 => make(neg, 0, 0),
        Data::Sparse => rng.next() as u32 & mask,
        Data::Powers => make(neg, rng.below(top + 1), 0),
        Data::Loud => make(0, bias, ((1 << w) - 1) - rng.below(16) / 15),
        Data::Under | Data::Over => make(neg, if xb == 8 { 60 + rng.below(5) } else { bias }, m),
        Data::Tiny => make(neg, if xb == 8 { 52 + rng.below(12) } else { rng.below(4).min(top) }, m),
    };
    if data != Data::Words && !finite(f, word) {
        return make(neg, bias, m);
    }
    word
}

/// A rows x k matrix (rows of A, or columns of B), row-major.
pub fn matrix(f: Format, data: Data, rows: usize, k: usize, rng: &mut Rng) -> Vec<u32> {
    let mut out: Vec<u32> = (0..rows * k).map(|_| word(f, data, rng)).collect();
    for t in (0..rows * k).filter(|t| t % k % 4 == 3) {
        match data {
            Data::Under => out[t] = 0,
            Data::Over => out[t] = word(f, Data::Huge, rng),
            _ => {}
        }
    }
    if data == Data::Cancel {
        let sign = 1u32 << (width(f) - 1);
        for r in out.chunks_exact_mut(k) {
            for t in k / 2..k / 2 * 2 {
                let flip = if rng.below(8) == 0 { 1 << fields(f).2 } else { 0 };
                let w = r[t - k / 2] ^ sign ^ flip;
                r[t] = if finite(f, w) { w } else { r[t - k / 2] ^ sign };
            }
        }
    }
    out
}

/// Initial accumulators.
pub fn addend(f: Format, data: Data, rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => 0,
        1 => 1u32 << (width(f) - 1),
        2 => rng.next() as u32 & (u32::MAX >> (32 - width(f))),
        3 => word(f, Data::Subnormal, rng),
        4 => word(f, Data::Normal, rng),
        5 => {
            // An exponent near one, fp32: the range where products and c meet.
            let x = if width(f) == 32 { 100 + rng.below(50) } else { rng.below(31) };
            let w = if width(f) == 32 { 23 } else { 10 };
            ((rng.next() & 1) << (width(f) - 1) | x << w | rng.below(1 << w)) as u32
        }
        _ => word(f, if data == Data::Words { Data::Finite } else { data }, rng),
    }
}
