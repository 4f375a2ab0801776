//! CDNA2's trees of rounded products (numerics 4.4), 4 rows by 8 columns in registers.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::plain::{ROWS, Unit, flushed_fp32, is_nan};
use crate::params::Format;

/// Blocks of N terms (4 or 2), the accumulator flushed after each. FLUSH: products and their sums are flushed too; fp16
/// factors without subnormals give products of at least 2^-28 and sums that are multiples of 2^-48, never subnormal.
/// Non-finite operands are the caller's: they are decided before arithmetic. So is an infinite c, which stays; a NaN of
/// opposite infinities has the sign set here as there. Without FLUSH c stays below 2^127 and nothing overflows.
pub(crate) struct Tree<const N: usize, const FLUSH: bool>;

impl<const N: usize, const FLUSH: bool> Unit for Tree<N, FLUSH> {
    const NAME: &'static str = "avx2/pairwise";
    const PER: usize = 1;
    /// A multiple of every N.
    const KC: usize = 64;
    const STICKY: bool = true;
    const FINITE: bool = true;

    #[inline(always)]
    fn a(words: &[u32], format: Format) -> u32 {
        flushed_fp32(words[0], format)
    }

    #[inline(always)]
    fn b(words: &[u32], format: Format) -> u32 {
        flushed_fp32(words[0], format)
    }

    unsafe fn step(a: *const u32, b: *const u32, c: *mut u32, units: usize) {
        debug_assert!(units.is_multiple_of(N));
        // SAFETY: the caller's contract is `tree`'s.
        unsafe { tree::<N, FLUSH>(a.cast(), b.cast(), c.cast(), units) }
    }

    fn addend_ok(word: u32) -> bool {
        if FLUSH { !is_nan(word) } else { word << 1 < 0xFE00_0000 }
    }

    fn refuse(_: u32) -> bool {
        false
    }
}

/// A subnormal becomes a zero of its sign; a NaN stays.
#[inline]
#[target_feature(enable = "avx2")]
fn flush(x: __m256) -> __m256 {
    let sign = _mm256_set1_ps(-0.0);
    let normal = _mm256_cmp_ps::<_CMP_NLT_UQ>(_mm256_andnot_ps(sign, x), _mm256_set1_ps(f32::MIN_POSITIVE));
    _mm256_and_ps(x, _mm256_or_ps(normal, sign))
}

/// All bits set where x is infinite.
#[inline]
#[target_feature(enable = "avx2")]
fn infinite(x: __m256) -> __m256 {
    let magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
    _mm256_cmp_ps::<_CMP_EQ_OQ>(magnitude, _mm256_set1_ps(f32::INFINITY))
}

#[target_feature(enable = "avx2")]
unsafe fn tree<const N: usize, const FLUSH: bool>(a: *const f32, b: *const f32, c: *mut f32, units: usize) {
    let rounded = |x: __m256| if FLUSH { flush(x) } else { x };
    for j in (0..PANEL).step_by(8) {
        // SAFETY: all offsets stay inside the ranges that Unit::step names; units is a multiple of N.
        unsafe {
            let mut s: [__m256; ROWS] =
                core::array::from_fn(|r| flush(_mm256_loadu_ps(c.add(r * PANEL + j))));
            for u in (0..units).step_by(N) {
                let v: [__m256; N] = core::array::from_fn(|k| _mm256_loadu_ps(b.add((u + k) * PANEL + j)));
                for (r, s) in s.iter_mut().enumerate() {
                    let p: [__m256; N] = core::array::from_fn(|k| {
                        rounded(_mm256_mul_ps(_mm256_broadcast_ss(&*a.add((u + k) * ROWS + r)), v[k]))
                    });
                    let mut sum = rounded(_mm256_add_ps(p[0], p[1]));
                    if N == 4 {
                        let high = rounded(_mm256_add_ps(p[2], p[3]));
                        sum = rounded(_mm256_add_ps(sum, high));
                    }
                    let next = flush(_mm256_add_ps(*s, sum));
                    *s = if FLUSH { _mm256_blendv_ps(next, *s, infinite(*s)) } else { next };
                }
            }
            for (r, s) in s.iter().enumerate() {
                _mm256_storeu_ps(c.add(r * PANEL + j), *s);
            }
        }
    }
}
