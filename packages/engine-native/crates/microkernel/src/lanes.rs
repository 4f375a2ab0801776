//! Decoding of 64 words at a time, branch-free, so that the compiler makes vector code of it.

use crate::PANEL;
use crate::pack::{Layout, Specials};
use crate::words::{View, Words};

/// Decoded words, one a lane. Exponents of zeros and non-finite words are meaningless; their value is 0.
pub(crate) struct Lanes {
    pub value: [f64; PANEL],
    pub e: [i32; PANEL],
    pub low: [i32; PANEL],
    /// 1 where the sign bit is set.
    pub negative: [u32; PANEL],
    /// 1 where the value is not zero.
    pub nonzero: [u32; PANEL],
    /// Bit j: lane j is not finite.
    pub bad: u64,
}

impl Default for Lanes {
    fn default() -> Self {
        let (i, u) = ([0; PANEL], [0; PANEL]);
        Lanes { value: [0.0; PANEL], e: i, low: i, negative: u, nonzero: u, bad: 0 }
    }
}

impl Lanes {
    /// Decodes `words`; `value` is significand * 2^lsb * 2^`scale`, exact while normal in fp64.
    #[inline(always)]
    pub fn decode(&mut self, l: &Layout, scale: i32, words: &[u32; PANEL]) {
        let w = l.fraction_bits;
        let top = (1u32 << l.exponent_bits) - 1;
        let hidden = 1u32 << w;
        let magnitude = (hidden << l.exponent_bits) - 1;
        // Special iff magnitude bits lie in least..=most (with the sign bit for the fnuz pair's one NaN).
        let (mask, least) = match l.specials {
            Specials::Ieee => (magnitude, top << w),
            Specials::NanOnly => (magnitude, magnitude),
            Specials::Fnuz => (magnitude << 1 | 1, magnitude + 1),
            Specials::None => (0, 1),
        };
        let fnuz = u32::from(l.specials == Specials::Fnuz);
        let most = if fnuz == 1 { least } else { magnitude };
        let mut any = 0;
        let mut bad = [0u32; PANEL];
        for j in 0..PANEL {
            let word = words[j] >> l.dropped;
            let fraction = word & (hidden - 1);
            let x = word >> w & top;
            let special = u32::from(word & mask >= least) & u32::from(word & mask <= most);
            let significand =
                (fraction | hidden & 0u32.wrapping_sub(u32::from(x != 0))) & special.wrapping_sub(1);
            let e = x.max(1) as i32 - l.bias;
            let lsb = e - w as i32;
            // The lowest bit as a float: its exponent counts the zeros below it.
            let lowest = (significand & significand.wrapping_neg()) as i32 as f32;
            self.e[j] = e;
            self.low[j] = lsb + (lowest.to_bits() >> 23) as i32 - 127;
            self.negative[j] = word >> (w + l.exponent_bits) & 1;
            self.nonzero[j] = u32::from(significand != 0);
            let unit = ((lsb + scale + 1023) as u64) << 52 | u64::from(self.negative[j]) << 63;
            self.value[j] = f64::from(significand as i32) * f64::from_bits(unit);
            bad[j] = special;
            any |= special;
        }
        self.bad = 0;
        if any != 0 {
            self.bad = bad.iter().enumerate().map(|(j, b)| u64::from(*b) << j).sum();
        }
    }
}

/// `count` <= 64 words of a row, from (row, col) on; the rest is 0.
#[inline(always)]
pub(crate) fn gather(v: &View<'_>, row: usize, col: usize, count: usize) -> [u32; PANEL] {
    let mut out = [0; PANEL];
    if count == 0 {
        return out;
    }
    let step = v.col_stride;
    let start = v.index(row, col);
    match v.words {
        Words::U8(w) => load(&mut out, w, start, step, count),
        Words::U16(w) => load(&mut out, w, start, step, count),
        Words::U32(w) => load(&mut out, w, start, step, count),
    }
    out
}

/// Fetches the lines of up to 64 words of a row to come; rows of B lie a page or more apart, out of the reach of the
/// hardware's own prefetching. A row outside the view's buffer is left alone.
#[inline(always)]
pub(crate) fn prefetch(v: &View<'_>, row: usize, col: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let (start, bytes) = match v.words {
            Words::U8(w) => (w.as_ptr().cast::<i8>(), 1),
            Words::U16(w) => (w.as_ptr().cast::<i8>(), 2),
            Words::U32(w) => (w.as_ptr().cast::<i8>(), 4),
        };
        let at = v.index(row, col);
        if at < v.words.len() {
            for line in 0..bytes {
                // SAFETY: a prefetch reads nothing, whatever its address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at * bytes + 64 * line)) };
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (v, row, col);
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
