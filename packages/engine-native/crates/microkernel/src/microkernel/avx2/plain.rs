//! fp32 fused multiply-adds and 16-bit integer pairs, 4 rows by 16 columns in registers.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::plain::{ROWS, Unit, is_nan, pair};
use crate::params::Format;

/// IEEE fused multiply-adds in order, RNE, subnormals kept (the default MXCSR). Infinities follow IEEE; a NaN is the
/// caller's, for its payload.
pub(crate) struct Fma;

impl Unit for Fma {
    const NAME: &'static str = "avx2/sequential-fma";
    const PER: usize = 1;
    const KC: usize = 64;
    const STICKY: bool = true;

    #[inline(always)]
    fn a(words: &[u32], _: Format) -> u32 {
        words[0]
    }

    #[inline(always)]
    fn b(words: &[u32], _: Format) -> u32 {
        words[0]
    }

    unsafe fn step(a: *const u32, b: *const u32, c: *mut u32, units: usize) {
        // SAFETY: the caller's contract is `fma`'s.
        unsafe { fma(a.cast(), b.cast(), c.cast(), units) }
    }

    fn refuse(word: u32) -> bool {
        is_nan(word)
    }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn fma(a: *const f32, b: *const f32, c: *mut f32, units: usize) {
    // SAFETY: the strips cover the 64 columns of the ranges that Unit::step names.
    unsafe {
        strip::<3>(a, b, c, units);
        strip::<3>(a, b.add(24), c.add(24), units);
        strip::<2>(a, b.add(48), c.add(48), units);
    }
}

/// 4 rows by W vectors of columns: 12 chains hide the latency that 8 just do.
///
/// # Safety
/// As `Unit::step`, for 8 W columns from `b` and `c` on.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn strip<const W: usize>(a: *const f32, b: *const f32, c: *mut f32, units: usize) {
    // SAFETY: all offsets stay inside the ranges named above.
    unsafe {
        let mut s: [[__m256; W]; ROWS] =
            core::array::from_fn(|r| core::array::from_fn(|i| _mm256_loadu_ps(c.add(r * PANEL + 8 * i))));
        for r in 0..ROWS {
            // The next rows' accumulators.
            _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add((ROWS + r) * PANEL).cast());
            _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add((ROWS + r) * PANEL + 8 * (W - 1)).cast());
        }
        for u in 0..units {
            let v: [__m256; W] = core::array::from_fn(|i| _mm256_loadu_ps(b.add(u * PANEL + 8 * i)));
            // The next rows' block of A.
            _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add((Fma::KC + u) * ROWS).cast());
            for r in 0..ROWS {
                let x = _mm256_broadcast_ss(&*a.add(u * ROWS + r));
                for i in 0..W {
                    s[r][i] = _mm256_fmadd_ps(x, v[i], s[r][i]);
                }
            }
        }
        for r in 0..ROWS {
            for i in 0..W {
                _mm256_storeu_ps(c.add(r * PANEL + 8 * i), s[r][i]);
            }
        }
    }
}

/// Sums of 8-bit products, widened to 16 bits, by vpmaddwd: exact, then modulo 2^32.
pub(crate) struct Pairs;

impl Unit for Pairs {
    const NAME: &'static str = "avx2/integer-pairs";
    const PER: usize = 2;
    const KC: usize = 128;

    #[inline(always)]
    fn a(words: &[u32], format: Format) -> u32 {
        pair(words, format)
    }

    #[inline(always)]
    fn b(words: &[u32], format: Format) -> u32 {
        pair(words, format)
    }

    unsafe fn step(a: *const u32, b: *const u32, c: *mut u32, units: usize) {
        // SAFETY: the caller's contract is `dot`'s.
        unsafe { dot(a.cast(), b.cast(), c.cast(), units) }
    }

    fn refuse(_: u32) -> bool {
        false
    }
}

#[target_feature(enable = "avx2")]
unsafe fn dot(a: *const i32, b: *const i32, c: *mut i32, units: usize) {
    for j in (0..PANEL).step_by(16) {
        // SAFETY: all offsets stay inside the ranges that Unit::step names.
        unsafe {
            let mut s: [[__m256i; 2]; ROWS] = core::array::from_fn(|r| {
                core::array::from_fn(|i| _mm256_loadu_si256(c.add(r * PANEL + j + 8 * i).cast()))
            });
            for u in 0..units {
                let v: [__m256i; 2] =
                    core::array::from_fn(|i| _mm256_loadu_si256(b.add(u * PANEL + j + 8 * i).cast()));
                for r in 0..ROWS {
                    let x = _mm256_set1_epi32(a.add(u * ROWS + r).read());
                    for i in 0..2 {
                        s[r][i] = _mm256_add_epi32(s[r][i], _mm256_madd_epi16(x, v[i]));
                    }
                }
            }
            for r in 0..ROWS {
                for i in 0..2 {
                    _mm256_storeu_si256(c.add(r * PANEL + j + 8 * i).cast(), s[r][i]);
                }
            }
        }
    }
}
