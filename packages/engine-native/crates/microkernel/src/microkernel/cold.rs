//! One block step of one element in integers, for the columns that a vector path leaves out.

use crate::pack::{Layout, Specials};

const FP32: Layout =
    Layout { exponent_bits: 8, fraction_bits: 23, bias: 127, specials: Specials::Ieee, dropped: 0 };
const INFINITY: u32 = 0x7F80_0000;
/// AMD's NaN, of infinities of both signs born in one block.
const NAN: u32 = 0xFFC0_0000;
/// Exponents of zeros lie below half of this.
const NONE: i32 = -1 << 20;

/// N numbers of at most 22 bits: magnitude * 2^(e - fraction bits), `negative` 0 or -1.
#[derive(Clone, Copy)]
pub struct Terms<const N: usize> {
    magnitude: [i32; N],
    negative: [i32; N],
    e: [i32; N],
    fraction_bits: i32,
}

impl<const N: usize> Terms<N> {
    /// Finite words of a format; any other word gives some number.
    #[inline(always)]
    pub fn new(l: &Layout, words: [u32; N]) -> Self {
        let (w, bits) = (l.fraction_bits, l.exponent_bits);
        let mut out = Terms { magnitude: [0; N], negative: [0; N], e: [0; N], fraction_bits: w as i32 };
        for t in 0..N {
            let word = words[t] >> l.dropped;
            let x = (word >> w & ((1 << bits) - 1)) as i32;
            let hidden = if x == 0 { 0 } else { 1 << w };
            out.magnitude[t] = (word & ((1 << w) - 1)) as i32 | hidden;
            out.negative[t] = -((word >> (w + bits) & 1) as i32);
            out.e[t] = if out.magnitude[t] == 0 { NONE } else { x.max(1) - l.bias };
        }
        out
    }

    #[inline(always)]
    pub fn times(&self, y: &Self) -> Self {
        let mut out = *self;
        for t in 0..N {
            out.magnitude[t] *= y.magnitude[t];
            out.negative[t] ^= y.negative[t];
            out.e[t] += y.e[t];
        }
        out.fraction_bits += y.fraction_bits;
        out
    }

    /// The largest exponent of the nonzero.
    #[inline(always)]
    fn top(&self) -> Option<i32> {
        let mut top = 2 * NONE;
        for e in self.e {
            top = top.max(e);
        }
        (top > NONE / 2).then_some(top)
    }

    /// The sum in units of 2^q, each number cut toward zero to less than 2^31 of them.
    #[inline(always)]
    fn sum(&self, q: i32) -> i64 {
        let mut sum = 0;
        for t in 0..N {
            let by = self.e[t] - self.fraction_bits - q;
            let units = self.magnitude[t] << by.clamp(0, 31) >> (-by).clamp(0, 31);
            sum += i64::from((units ^ self.negative[t]) - self.negative[t]);
        }
        sum
    }
}

/// Signed significand, lsb and encoded exponent of a finite fp32.
fn addend(word: u32) -> (i64, i32, i32) {
    let x = word >> 23 & 0xFF;
    let significand = i64::from(word & 0x7F_FFFF | if x == 0 { 0 } else { 1 << 23 });
    let e = x.max(1) as i32 - FP32.bias;
    (if word >> 31 == 1 { -significand } else { significand }, e - 23, e)
}

/// floor(x * 2^by); x is 0 where by > 40.
fn shift(x: i64, by: i32) -> i64 {
    if by < 0 { x >> (-by).min(63) } else { x << by.min(40) }
}

/// Exponent of the leading bit of a nonzero integer.
fn log2(x: i64) -> i32 {
    63 - x.unsigned_abs().leading_zeros() as i32
}

/// sum * 2^q as fp32, toward zero or to nearest even, its sign kept.
fn round(sum: i64, q: i32, nearest: bool) -> u32 {
    let keep = (q + log2(sum) - 23).max(-149);
    let magnitude = sum.unsigned_abs();
    let cut = keep - q;
    let m = match cut {
        ..=0 => magnitude << -cut,
        64.. => 0,
        _ => {
            let (kept, rest) = (magnitude >> cut, magnitude & !(u64::MAX << cut));
            let half = 1u64 << (cut - 1);
            kept + u64::from(nearest && (rest > half || rest == half && kept & 1 == 1))
        }
    };
    // The hidden bit adds one to the exponent field.
    let word = (m + (((keep + 149) as u64) << 23)).min(u64::from(INFINITY)) as u32;
    if sum < 0 { word | 1 << 31 } else { word }
}

/// A fused window (numerics 4.1) with fp32 output toward zero; c is not NaN.
#[inline(always)]
pub fn fused<const N: usize>(products: &Terms<N>, c: u32, fraction: i32, floor: Option<i32>) -> u32 {
    if c << 1 == INFINITY << 1 {
        return c;
    }
    let (significand, lsb, e_c) = addend(c);
    let c = (significand != 0).then_some(e_c);
    let Some(e) = products.top().max(c) else { return 0 };
    let q = floor.map_or(e, |floor| e.max(floor)) - fraction;
    let units = shift(significand.abs(), lsb - q);
    let sum = products.sum(q) + if significand < 0 { -units } else { units };
    if sum == 0 {
        return 0;
    }
    let word = round(sum, q, false);
    if word << 1 == 0 { 0 } else { word }
}

/// CDNA3 (numerics 4.5; with two windows 4.6: even-indexed products, odd-indexed ones). An infinity or NaN stays.
#[inline(always)]
pub fn cdna3<const N: usize>(windows: &[Terms<N>], c: u32) -> u32 {
    if c << 1 >= INFINITY << 1 {
        return c;
    }
    let top = windows.iter().filter_map(|w| w.top()).max();
    if top.is_some_and(|e| e >= 126) {
        // Signs of the products from 2^128 on.
        let mut over = [false; 2];
        for w in windows {
            for t in 0..N {
                let m = i64::from(w.magnitude[t]);
                if m != 0 && w.e[t] - w.fraction_bits + log2(m) >= 128 {
                    over[(-w.negative[t]) as usize] = true;
                }
            }
        }
        match over {
            [true, true] => return NAN,
            [true, false] => return INFINITY,
            [false, true] => return INFINITY | 1 << 31,
            _ => {}
        }
    }
    let (significand, lsb, e_c) = addend(c);
    let e_c = if significand == 0 { -126 } else { e_c };
    let unit = top.unwrap_or(0) - 24;
    let mut sum = 0;
    for w in windows {
        if let Some(e) = w.top() {
            sum += shift(w.sum(e - 24), e - 24 - unit);
        }
    }
    let (total, q) = match top {
        Some(e) if e >= e_c => {
            let near = windows.len() == 1 || e - e_c <= 25;
            (sum + if near { shift(significand, lsb - unit) } else { 0 }, unit)
        }
        _ => {
            let q = e_c - 32;
            let total = shift(sum, unit - q) + shift(significand, lsb - q);
            if total == 0 {
                return 0;
            }
            let keep = (q + log2(total)).max(-126) - 31;
            if keep > q { (shift(total, q - keep), keep) } else { (total, q) }
        }
    };
    if total == 0 { 0 } else { round(total, q, true) }
}
