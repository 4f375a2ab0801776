//! CDNA2's trees of rounded products (numerics 4.4), 4 rows by 64 columns.

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
    const NAME: &'static str = "avx512/pairwise";
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

/// A subnormal becomes a zero of its sign.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn flush(x: __m512) -> __m512 {
    const DENORMAL: i32 = 0x20;
    _mm512_mask_and_ps(x, _mm512_fpclass_ps_mask::<DENORMAL>(x), x, _mm512_set1_ps(-0.0))
}

#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn tree<const N: usize, const FLUSH: bool>(a: *const f32, b: *const f32, c: *mut f32, units: usize) {
    let rounded = |x: __m512| if FLUSH { flush(x) } else { x };
    // SAFETY: all offsets stay inside the ranges that Unit::step names; units is a multiple of N.
    unsafe {
        let mut s: [[__m512; 4]; ROWS] = core::array::from_fn(|r| {
            core::array::from_fn(|i| flush(_mm512_loadu_ps(c.add(r * PANEL + 16 * i))))
        });
        for u in (0..units).step_by(N) {
            for i in 0..4 {
                let v: [__m512; N] =
                    core::array::from_fn(|k| _mm512_loadu_ps(b.add((u + k) * PANEL + 16 * i)));
                for (r, s) in s.iter_mut().enumerate() {
                    let p: [__m512; N] = core::array::from_fn(|k| {
                        rounded(_mm512_mul_ps(_mm512_set1_ps(a.add((u + k) * ROWS + r).read()), v[k]))
                    });
                    let mut sum = rounded(_mm512_add_ps(p[0], p[1]));
                    if N == 4 {
                        let high = rounded(_mm512_add_ps(p[2], p[3]));
                        sum = rounded(_mm512_add_ps(sum, high));
                    }
                    const INFINITE: i32 = 0x08 | 0x10;
                    let stays = if FLUSH { _mm512_fpclass_ps_mask::<INFINITE>(s[i]) } else { 0 };
                    s[i] = flush(_mm512_mask_add_ps(s[i], !stays, s[i], sum));
                }
            }
        }
        for (r, s) in s.iter().enumerate() {
            for (i, s) in s.iter().enumerate() {
                _mm512_storeu_ps(c.add(r * PANEL + 16 * i), *s);
            }
        }
    }
}
