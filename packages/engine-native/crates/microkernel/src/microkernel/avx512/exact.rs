//! CDNA1's exact sums (numerics 4.3) in fp64, 4 rows by 8 columns at a time.
//!
//! Products of fp16 or bf16 are exact in fp64. Two-sums split the products' sum into s + e, exactly: for two products
//! by definition; for four the three errors are multiples of 2^-48 of at most 2^-19, so that their sum is exact too.
//! c + s = h + l is a two-sum, z = l + e and w = h + z round to odd, and one conversion of w rounds to fp32. Rounding
//! to odd keeps the order against every fp32 boundary B where B - h has 53 bits: where l = 0, or |z| <= |h| / 4. The
//! rest, a cancellation of c and s that leaves less than e, is handed back. An infinite c stays.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::plain::{ROWS, Unit, exact_fp32, is_nan};
use crate::params::Format;

/// Blocks of N terms, 4 or 2.
pub(crate) struct Sum<const N: usize>;

impl<const N: usize> Unit for Sum<N> {
    const NAME: &'static str = "avx512/exact";
    const PER: usize = 1;
    /// A multiple of every N.
    const KC: usize = 128;
    const STICKY: bool = true;
    const FINITE: bool = true;

    #[inline(always)]
    fn a(words: &[u32], format: Format) -> u32 {
        exact_fp32(words[0], format)
    }

    #[inline(always)]
    fn b(words: &[u32], format: Format) -> u32 {
        exact_fp32(words[0], format)
    }

    unsafe fn step(a: *const u32, b: *const u32, c: *mut u32, units: usize) {
        debug_assert!(units.is_multiple_of(N));
        // SAFETY: the caller's contract is `sums`'s.
        unsafe { sums::<N>(a.cast(), b.cast(), c.cast(), units) }
    }

    fn addend_ok(word: u32) -> bool {
        !is_nan(word)
    }

    fn refuse(word: u32) -> bool {
        is_nan(word)
    }
}

/// x + y = sum + error, exactly.
#[inline]
#[target_feature(enable = "avx512f")]
fn two_sum(x: __m512d, y: __m512d) -> (__m512d, __m512d) {
    let sum = _mm512_add_pd(x, y);
    let part = _mm512_sub_pd(sum, x);
    let lost = _mm512_sub_pd(x, _mm512_sub_pd(sum, part));
    (sum, _mm512_add_pd(lost, _mm512_sub_pd(y, part)))
}

/// x + y rounded to odd: of the two neighbours the one whose last bit is set.
#[inline]
#[target_feature(enable = "avx512f")]
fn odd_sum(x: __m512d, y: __m512d) -> __m512d {
    let down = _mm512_add_round_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(x, y);
    let up = _mm512_add_round_pd::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(x, y);
    let odd = _mm512_test_epi64_mask(_mm512_castpd_si512(down), _mm512_set1_epi64(1));
    _mm512_mask_blend_pd(odd, up, down)
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
unsafe fn sums<const N: usize>(a: *const f32, b: *const f32, c: *mut f32, units: usize) {
    // SAFETY: all offsets stay inside the ranges that Unit::step names; units is a multiple of N.
    unsafe {
        for u in (0..units).step_by(N) {
            for r in 0..ROWS {
                let x: [__m512d; N] =
                    core::array::from_fn(|k| _mm512_set1_pd(f64::from(a.add((u + k) * ROWS + r).read())));
                for j in (0..PANEL).step_by(8) {
                    let p: [__m512d; N] = core::array::from_fn(|k| {
                        let v = _mm512_cvtps_pd(_mm256_loadu_ps(b.add((u + k) * PANEL + j)));
                        _mm512_mul_pd(x[k], v)
                    });
                    let (mut s, mut e) = two_sum(p[0], p[1]);
                    if N == 4 {
                        let (high, lost) = two_sum(p[2], p[3]);
                        let (sum, last) = two_sum(s, high);
                        s = sum;
                        e = _mm512_add_pd(_mm512_add_pd(e, lost), last);
                    }
                    let at = c.add(r * PANEL + j);
                    let (h, l) = two_sum(_mm512_cvtps_pd(_mm256_loadu_ps(at)), s);
                    let zero = _mm512_setzero_pd();
                    // Terms of near exponents: h is the sum.
                    if _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(_mm512_or_pd(l, e), zero) == 0 {
                        _mm256_storeu_ps(at, _mm512_cvtpd_ps(_mm512_add_pd(h, zero)));
                        continue;
                    }
                    let z = odd_sum(l, e);
                    // An exact zero is +0.
                    let w = _mm512_add_pd(odd_sum(h, z), zero);
                    let large = _mm512_mul_pd(_mm512_abs_pd(z), _mm512_set1_pd(4.0));
                    let open = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(l, zero)
                        & _mm512_cmp_pd_mask::<_CMP_NLE_UQ>(large, _mm512_abs_pd(h));
                    let d = _mm512_cvtpd_ps(w);
                    let d = _mm256_mask_blend_ps(open, d, _mm256_set1_ps(f32::NAN));
                    const INFINITE: i32 = 0x08 | 0x10;
                    let old = _mm256_loadu_ps(at);
                    let stays = _mm256_fpclass_ps_mask::<INFINITE>(old);
                    _mm256_storeu_ps(at, _mm256_mask_mov_ps(d, stays, old));
                }
            }
        }
    }
}
