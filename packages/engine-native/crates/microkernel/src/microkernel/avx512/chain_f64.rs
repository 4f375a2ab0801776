//! The floor chain in fp64, shared by every window of 23 to 25 fraction bits: 2 rows by 64 columns in registers.
//!
//! As in `window_f32`, S starts at M whose last place is the quantum 2^(E-F), S = fma_RD(a, b, S) adds floor(a*b),
//! and inexact negative products are counted in bytes. M may hold any bits below its top word's 8 (1.5 <= M < 1.5625
//! times a power of two): R = S - M is exact for every M whose last place is the quantum. |S - M| stays below
//! (N * 4 + 2) * 2^E <= 2^(E + 8) < 2^(E + 52 - F) / 3.
//!
//! Byte p = 8l + i of a 64-byte group belongs to column 8i + l, lane l of vector i.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::avx512::count_masked;
use crate::microkernel::narrow::mutation::{ADDEND_FIX, SIGN_FIX};
use crate::microkernel::narrow::{a_block, a_parts, step};

pub const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
pub const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
/// Rows of one register tile.
pub const ROWS: usize = 2;
/// Bytes of a value.
pub const V: usize = 8;
const STEP: usize = step(V);

/// Least da + db of both rows, from `start`; saturating at 255 where SAT.
///
/// # Safety
/// `a` points at the items of a block of N terms, `b` at a block of B.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn distances<const N: usize, const SAT: bool>(
    a: *const u8,
    b: *const u8,
    mut d: [__m512i; ROWS],
) -> [__m512i; ROWS] {
    let [_, da_at, _] = a_parts(V, ROWS, N);
    for t in 0..N {
        // SAFETY: t < N keeps both offsets in their blocks.
        unsafe {
            let db = _mm512_loadu_si512(b.add(t * STEP + V * PANEL).cast());
            for r in 0..ROWS {
                let da = _mm512_set1_epi32(a.add(da_at + (r * N + t) * 4).cast::<i32>().read());
                let sum = if SAT { _mm512_adds_epu8(da, db) } else { _mm512_add_epi8(da, db) };
                d[r] = _mm512_min_epu8(d[r], sum);
            }
        }
    }
    d
}

/// Adds the floors of all products to S; returns the counts of inexact negative ones, whose codes lie above
/// `threshold` - la (saturated). `ahead`: N lines to prefetch.
///
/// # Safety
/// As [`distances`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn products<const N: usize, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    s: &mut [[__m512d; 8]; ROWS],
    threshold: [__m512i; ROWS],
    ahead: *const u8,
) -> [__m512i; ROWS] {
    let [la_at, _, offset_at] = a_parts(V, ROWS, N);
    let mut count = [_mm512_setzero_si512(); ROWS];
    let ones = _mm512_set1_epi8(1);
    for t in 0..N {
        // SAFETY: t < N keeps the offsets in their blocks; the packed offset names a row of codes of this block.
        unsafe {
            let values = b.add(t * STEP).cast::<f64>();
            let value: [__m512d; ROWS] =
                core::array::from_fn(|r| _mm512_set1_pd(a.cast::<f64>().add(r * N + t).read()));
            // The next rows' block of A, 40 bytes a k, and some of the next block of B.
            _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(a_block(V, ROWS, N) + t * 64).cast());
            _mm_prefetch::<_MM_HINT_T1>(ahead.wrapping_add(t * 64).cast());
            for i in 0..8 {
                let v = _mm512_loadu_pd(values.add(8 * i));
                for r in 0..ROWS {
                    s[r][i] = _mm512_fmadd_round_pd::<DOWN>(value[r], v, s[r][i]);
                }
            }
            for r in 0..ROWS {
                let at = (r * N + t) * 4;
                let la = _mm512_set1_epi32(a.add(la_at + at).cast::<i32>().read());
                let codes = b.add(a.add(offset_at + at).cast::<u32>().read() as usize);
                let limit = _mm512_subs_epu8(threshold[r], la);
                let inexact = _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(codes.cast()), limit);
                if MUT & SIGN_FIX == 0 {
                    count[r] = count_masked(count[r], inexact, ones);
                }
            }
        }
    }
    count
}

/// M + c cut to M's last place toward zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub fn start<const MUT: u32>(m: [__m512d; 8], c: [__m512d; 8]) -> [__m512d; 8] {
    core::array::from_fn(|i| {
        let negative = _mm512_movepi64_mask(_mm512_castpd_si512(c[i]));
        let sum = _mm512_add_round_pd::<DOWN>(m[i], c[i]);
        if MUT & ADDEND_FIX == 0 { _mm512_mask_add_round_pd::<UP>(sum, negative, m[i], c[i]) } else { sum }
    })
}

/// Whether the sum of a block fits the low doubleword of S: |sum| < 34 * 2^24 < 2^30, and the low doubleword of an
/// origin lies in 0x3000_0000..0x9000_0000, so that adding counts there never carries.
pub const fn low_counts(n: usize, fraction: i32) -> bool {
    n <= 8 && fraction <= 24
}

/// S - M with the counts added to S's last places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
pub fn finish<const LOW: bool>(s: [__m512d; 8], m: [__m512d; 8], count: __m512i) -> [__m512d; 8] {
    let upper = _mm512_srli_epi64::<32>(count);
    core::array::from_fn(|i| {
        let s = _mm512_castpd_si512(s[i]);
        let bits = if LOW {
            let one = _mm512_set1_epi64(1 << (i % 4 * 8));
            _mm512_dpbusd_epi32(s, if i < 4 { count } else { upper }, one)
        } else {
            // Byte i of each quadword, alone.
            const CLEAR: i64 = 0x8080_8080_8080_8000_u64 as i64;
            let (low, high) = (CLEAR | i as i64, CLEAR | (8 + i as i64));
            let pick = _mm512_set_epi64(high, low, high, low, high, low, high, low);
            _mm512_add_epi64(s, _mm512_shuffle_epi8(count, pick))
        };
        _mm512_sub_pd(_mm512_castsi512_pd(bits), m[i])
    })
}

/// M of 64 columns from its top words: `words[0]` those of even bytes, `words[1]` of odd bytes. Rotations leave other
/// columns' top words below.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub fn origins(words: [__m512i; 2]) -> [__m512d; 8] {
    let [e, o] = words;
    [
        _mm512_rol_epi64::<48>(e),
        _mm512_rol_epi64::<48>(o),
        _mm512_rol_epi64::<32>(e),
        _mm512_rol_epi64::<32>(o),
        _mm512_rol_epi64::<16>(e),
        _mm512_rol_epi64::<16>(o),
        e,
        o,
    ]
    .map(|x| _mm512_castsi512_pd(x))
}

/// 16 times each byte as words: even bytes, odd bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub fn spread(bytes: __m512i) -> [__m512i; 2] {
    [
        _mm512_maddubs_epi16(bytes, _mm512_set1_epi16(0x0010)),
        _mm512_maddubs_epi16(bytes, _mm512_set1_epi16(0x1000)),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn load8(p: *const f64) -> [__m512d; 8] {
    // SAFETY: the caller's pointer covers 64 fp64.
    core::array::from_fn(|i| unsafe { _mm512_loadu_pd(p.add(8 * i)) })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn store8(p: *mut f64, x: [__m512d; 8]) {
    for (i, x) in x.into_iter().enumerate() {
        // SAFETY: the caller's pointer covers 64 fp64.
        unsafe { _mm512_storeu_pd(p.add(8 * i), x) };
    }
}

/// 64 fp32 as fp64, times 2^scale.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn widen(p: *const f32, scale: i32) -> [__m512d; 8] {
    let factor = _mm512_set1_pd(f64::from_bits(((1023 + scale) as u64) << 52));
    // SAFETY: the caller's pointer covers 64 fp32.
    core::array::from_fn(|i| unsafe { _mm512_mul_pd(_mm512_cvtps_pd(_mm256_loadu_ps(p.add(8 * i))), factor) })
}

/// 64 fp64 times 2^-scale as fp32, which has room for them once they are cut to `keep`; -0 becomes +0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn narrow_to_f32(x: [__m512d; 8], scale: i32, keep: i64, p: *mut f32) {
    let factor = _mm512_set1_pd(f64::from_bits(((1023 - scale) as u64) << 52));
    let keep = _mm512_castsi512_pd(_mm512_set1_epi64(keep));
    let zero = _mm512_setzero_pd();
    for (i, x) in x.into_iter().enumerate() {
        // SAFETY: the caller's pointer covers 64 fp32.
        unsafe {
            _mm256_storeu_ps(
                p.add(8 * i),
                _mm512_cvtpd_ps(_mm512_fmadd_pd(_mm512_and_pd(x, keep), factor, zero)),
            )
        };
    }
}
