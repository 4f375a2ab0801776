//! Decoding of 64 words at a time, branch-free, so that the compiler makes vector code of it.

use crate::PANEL;
use crate::pack::{Layout, Specials};
use crate::words::{View, Words};

/// Decoded words, one a lane. Exponents of zeros and non-finite words are meaningless; their value is 0.
#[derive(Clone)]
pub(crate) struct Lanes {
    pub value: [f64; PANEL],
    pub e: [i32; PANEL],
    pub low: [i32; PANEL],
    /// Bit j: lane j is negative, nonzero, not finite.
    pub negative: u64,
    pub nonzero: u64,
    pub bad: u64,
}

impl Default for Lanes {
    fn default() -> Self {
        Lanes { value: [0.0; PANEL], e: [0; PANEL], low: [0; PANEL], negative: 0, nonzero: 0, bad: 0 }
    }
}

impl Lanes {
    /// Decodes `words`; `value` is significand * 2^lsb * 2^`scale`, exact while normal in fp64.
    #[inline(always)]
    pub fn decode(&mut self, l: &Layout, scale: i32, words: &[u32; PANEL]) {
        let w = l.fraction_bits;
        let top = (1u32 << l.exponent_bits) - 1;
        let hidden = 1u32 << w;
        let sign = w + l.exponent_bits;
        let mut negative = [0u8; PANEL];
        let mut nonzero = [0u8; PANEL];
        let mut bad = [0u8; PANEL];
        for j in 0..PANEL {
            let word = words[j] >> l.dropped;
            let fraction = word & (hidden - 1);
            let x = word >> w & top;
            let neg = word >> sign & 1;
            let special = match l.specials {
                Specials::Ieee => x == top,
                Specials::NanOnly => x == top && fraction == hidden - 1,
                Specials::Fnuz => word & ((hidden << l.exponent_bits) - 1) == 0 && neg == 1,
                Specials::None => false,
            };
            let significand = if x == 0 { fraction } else { fraction | hidden };
            let significand = if special { 0 } else { significand };
            let e = (x.max(1)) as i32 - l.bias;
            let lsb = e - w as i32;
            // The lowest bit as a float: its exponent counts the zeros below it.
            let lowest = (significand & significand.wrapping_neg()) as i32 as f32;
            self.e[j] = e;
            self.low[j] = lsb + (lowest.to_bits() >> 23) as i32 - 127;
            let unit = f64::from_bits(((lsb + scale + 1023) as u64) << 52 | u64::from(neg) << 63);
            self.value[j] = f64::from(significand as i32) * unit;
            negative[j] = neg as u8;
            nonzero[j] = u8::from(significand != 0);
            bad[j] = u8::from(special);
        }
        self.negative = bits(&negative);
        self.nonzero = bits(&nonzero);
        self.bad = bits(&bad);
    }
}

/// Bit j set where byte j is 1.
#[inline(always)]
fn bits(bytes: &[u8; PANEL]) -> u64 {
    let mut out = 0;
    for (i, chunk) in bytes.chunks_exact(8).enumerate() {
        let x = u64::from_le_bytes(chunk.try_into().unwrap());
        // Byte j's lowest bit moves to bit 56 + j; the partial products do not meet there.
        out |= (x.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    out
}

/// `count` <= 64 words from element (row, col), along the columns or along the rows; the rest is 0.
#[inline(always)]
pub(crate) fn gather(v: &View<'_>, row: usize, col: usize, along_rows: bool, count: usize) -> [u32; PANEL] {
    let mut out = [0; PANEL];
    if count == 0 {
        return out;
    }
    let step = if along_rows { v.row_stride } else { v.col_stride };
    let start = v.index(row, col);
    match v.words {
        Words::U8(w) => load(&mut out, w, start, step, count),
        Words::U16(w) => load(&mut out, w, start, step, count),
        Words::U32(w) => load(&mut out, w, start, step, count),
    }
    out
}

#[inline(always)]
fn load<T: Copy + Into<u32>>(out: &mut [u32; PANEL], w: &[T], start: usize, step: usize, count: usize) {
    let w = &w[start..start + (count - 1) * step + 1];
    if step == 1 && count == PANEL {
        for (o, w) in out.iter_mut().zip(w) {
            *o = (*w).into();
        }
    } else if step == 1 {
        for (o, w) in out[..count].iter_mut().zip(w) {
            *o = (*w).into();
        }
    } else {
        for (j, o) in out[..count].iter_mut().enumerate() {
            *o = w[j * step].into();
        }
    }
}
