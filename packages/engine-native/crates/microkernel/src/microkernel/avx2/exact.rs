//! CDNA1's exact sums (numerics 4.3) in fp64, 4 rows by 4 columns at a time.
//!
//! Products of fp16 or bf16 are exact in fp64. Two-sums split the products' sum into s + e, exactly: for two products
//! by definition; for four the three errors are multiples of 2^-48 of at most 2^-19, so that their sum is exact too.
//! c + s = h + l is a two-sum, z = l + e and w = h + z round to odd, and one conversion of w rounds to fp32. Rounding
//! to odd keeps the order against every fp32 boundary B where B - h has 53 bits: where l = 0, or |z| <= |h| / 4. The
//! rest, a cancellation of c and s that leaves less than e, is handed back. An infinite c stays.
//!
//! All this is rarely needed: |l| is at most half a last place of h, and where |e| is at most four (|e| <= 2^-51 |h|) h and
//! the sum round alike unless h lies within eight last places of the middle between two fp32 numbers: low 29 bits near
//! 2^28, as |h| is no less than 2^-120.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::plain::{ROWS, Unit, exact_fp32, is_nan};
use crate::params::Format;

/// Faults that tests plant: bits of `MUT`.
pub(crate) mod mutation {
    pub const MIDDLE: u32 = 1;
    pub const CANCEL: u32 = 2;
    pub const SMALL: u32 = 4;
}

/// Blocks of N terms, 4 or 2.
pub(crate) struct Sum<const N: usize, const MUT: u32 = 0>;

impl<const N: usize, const MUT: u32> Unit for Sum<N, MUT> {
    const NAME: &'static str = "avx2/exact";
    const PER: usize = 1;
    /// A multiple of every N.
    const KC: usize = 64;
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
        unsafe { sums::<N, MUT>(a.cast(), b.cast(), c.cast(), units) }
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
#[target_feature(enable = "avx2")]
fn two_sum(x: __m256d, y: __m256d) -> (__m256d, __m256d) {
    let sum = _mm256_add_pd(x, y);
    let part = _mm256_sub_pd(sum, x);
    let lost = _mm256_sub_pd(x, _mm256_sub_pd(sum, part));
    (sum, _mm256_add_pd(lost, _mm256_sub_pd(y, part)))
}

/// x + y rounded to odd: where the nearest is inexact and even, its neighbour on the side of the error.
#[inline]
#[target_feature(enable = "avx2")]
fn odd_sum(x: __m256d, y: __m256d) -> __m256d {
    let (sum, error) = two_sum(x, y);
    let zero = _mm256_setzero_si256();
    let one = _mm256_set1_epi64x(1);
    let bits = _mm256_castpd_si256(sum);
    let even = _mm256_cmpeq_epi64(_mm256_and_si256(bits, one), zero);
    let inexact = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_NEQ_UQ>(error, _mm256_setzero_pd()));
    // -1 where the error points toward zero, else 1.
    let inward = _mm256_cmpgt_epi64(zero, _mm256_xor_si256(bits, _mm256_castpd_si256(error)));
    let step = _mm256_and_si256(_mm256_or_si256(inward, one), _mm256_and_si256(even, inexact));
    _mm256_castsi256_pd(_mm256_add_epi64(bits, step))
}

#[target_feature(enable = "avx2")]
unsafe fn sums<const N: usize, const MUT: u32>(a: *const f32, b: *const f32, c: *mut f32, units: usize) {
    // SAFETY: all offsets stay inside the ranges that Unit::step names; units is a multiple of N.
    unsafe {
        let sign = _mm256_set1_pd(-0.0);
        for u in (0..units).step_by(N) {
            let mut x = [[sign; N]; ROWS];
            for (r, x) in x.iter_mut().enumerate() {
                for (k, x) in x.iter_mut().enumerate() {
                    *x = _mm256_set1_pd(f64::from(a.add((u + k) * ROWS + r).read()));
                }
            }
            for j in (0..PANEL).step_by(4) {
                let v: [__m256d; N] =
                    core::array::from_fn(|k| _mm256_cvtps_pd(_mm_loadu_ps(b.add((u + k) * PANEL + j))));
                for (r, x) in x.iter().enumerate() {
                    let p: [__m256d; N] = core::array::from_fn(|k| _mm256_mul_pd(x[k], v[k]));
                    let (mut s, mut e) = two_sum(p[0], p[1]);
                    if N == 4 {
                        let (high, lost) = two_sum(p[2], p[3]);
                        let (sum, last) = two_sum(s, high);
                        s = sum;
                        e = _mm256_add_pd(_mm256_add_pd(e, lost), last);
                    }
                    let at = c.add(r * PANEL + j);
                    let (h, l) = two_sum(_mm256_cvtps_pd(_mm_loadu_ps(at)), s);
                    // An exact zero is +0.
                    let d = if settled::<MUT>(h, l, e) {
                        _mm256_cvtpd_ps(_mm256_add_pd(h, _mm256_setzero_pd()))
                    } else {
                        rounded(h, l, e, _mm_loadu_ps(at))
                    };
                    _mm_storeu_ps(at, d);
                }
            }
        }
    }
}

/// Whether h rounds as h + l + e in all lanes, or is infinite.
#[inline]
#[target_feature(enable = "avx2")]
fn settled<const MUT: u32>(h: __m256d, l: __m256d, e: __m256d) -> bool {
    let (sign, zero) = (_mm256_set1_pd(-0.0), _mm256_setzero_pd());
    let bits = _mm256_add_epi64(_mm256_castpd_si256(h), _mm256_set1_epi64x(8));
    let low = _mm256_and_si256(bits, _mm256_set1_epi64x((1 << 29) - 16));
    let middle = _mm256_castsi256_pd(_mm256_cmpeq_epi64(low, _mm256_set1_epi64x(1 << 28)));
    let magnitude = _mm256_andnot_pd(sign, h);
    let lost = _mm256_mul_pd(_mm256_andnot_pd(sign, e), _mm256_set1_pd((1u64 << 51) as f64));
    let cancels = _mm256_cmp_pd::<_CMP_GT_OQ>(lost, magnitude);
    // Near fp32's subnormals the middle lies elsewhere.
    let least = _mm256_set1_pd(f64::from_bits((1023 - 120) << 52));
    let small = _mm256_cmp_pd::<_CMP_LT_OQ>(magnitude, least);
    let kept = |x: __m256d, fault: u32| if MUT & fault == 0 { x } else { zero };
    let open = _mm256_or_pd(
        _mm256_or_pd(kept(middle, mutation::MIDDLE), kept(cancels, mutation::CANCEL)),
        kept(small, mutation::SMALL),
    );
    let inexact = _mm256_cmp_pd::<_CMP_NEQ_UQ>(_mm256_or_pd(l, e), zero);
    let open = _mm256_and_pd(open, inexact);
    _mm256_movemask_pd(open) == 0
}

/// h + l + e rounded to fp32; NaN where that is open, c where it is infinite.
#[target_feature(enable = "avx2")]
fn rounded(h: __m256d, l: __m256d, e: __m256d, c: __m128) -> __m128 {
    let (sign, zero) = (_mm256_set1_pd(-0.0), _mm256_setzero_pd());
    let z = odd_sum(l, e);
    let w = _mm256_add_pd(odd_sum(h, z), zero);
    let large = _mm256_mul_pd(_mm256_andnot_pd(sign, z), _mm256_set1_pd(4.0));
    let far = _mm256_cmp_pd::<_CMP_NLE_UQ>(large, _mm256_andnot_pd(sign, h));
    let open = _mm256_and_pd(_mm256_cmp_pd::<_CMP_NEQ_UQ>(l, zero), far);
    let d = _mm256_cvtpd_ps(_mm256_blendv_pd(w, _mm256_set1_pd(f64::NAN), open));
    let infinite = _mm_cmp_ps::<_CMP_EQ_OQ>(_mm_andnot_ps(_mm_set1_ps(-0.0), c), _mm_set1_ps(f32::INFINITY));
    _mm_blendv_ps(d, c, infinite)
}
