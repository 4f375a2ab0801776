//! `window_i32` outside its common range: exact for every E, in fp64.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::avx512::window_i32::mutation as m;
use crate::microkernel::avx512::window_i32::{DOWN, ROWS, ZERO, addend_words, load4};
use crate::microkernel::exponents::{self, STEP, UNIT};

/// E of 16 columns, `i` of 4, from its words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn exponent(words: [__m512i; 2], i: usize) -> __m512i {
    let x = words[i / 2];
    _mm512_srai_epi32::<23>(if i & 1 == 0 { _mm512_slli_epi32::<16>(x) } else { x })
}

/// 2^e of 8 lanes as fp64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn power_pd(e: __m256i) -> __m512d {
    let field = _mm512_add_epi64(_mm512_cvtepi32_epi64(e), _mm512_set1_epi64(1023));
    _mm512_castsi512_pd(_mm512_slli_epi64::<52>(field))
}

/// Lanes that are infinite or NaN.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn nonfinite(x: __m512) -> __mmask16 {
    const CLASS: i32 = 0x01 | 0x08 | 0x10 | 0x80;
    _mm512_fpclass_ps_mask::<CLASS>(x)
}

/// One block step of row `r` for any E; true while a column can still change (those of `bad` apart).
///
/// Products and their multiples of the unit are exact and normal in fp64: of at most 22 bits, from 2^-298 on.
///
/// # Safety
/// `a` and `b` point at blocks, `c` at the row's 64 elements.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub unsafe fn rare_row<const N: usize, const F: i32, const AMD: bool, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    r: usize,
    c: *mut f32,
    floor: i16,
    bad: u64,
) -> bool {
    // SAFETY: t < N and r < ROWS keep the offsets in their blocks.
    unsafe {
        let old = load4(c);
        let mut stays = 0u64;
        for i in 0..4 {
            stays |= u64::from(nonfinite(old[i])) << (16 * i);
        }
        if stays | bad == u64::MAX {
            return false;
        }
        let factor = |t: usize| a.cast::<f32>().add(r * N + t).read();
        let live = (0..N).filter(|t| factor(*t) != 0.0 || MUT & m::ZERO_CODE != 0);
        let mut e = [_mm512_set1_epi16(i16::MIN); 2];
        for t in live.clone() {
            let row = _mm512_set1_epi32(a.cast::<i32>().add((ROWS + r) * N + t).read());
            for v in 0..2 {
                let words = _mm512_loadu_si512(b.add(t * STEP + 4 * PANEL + 64 * v).cast());
                let mut some = _mm512_cmpneq_epi16_mask(words, _mm512_set1_epi16(exponents::ZERO));
                if MUT & m::ZERO_CODE != 0 {
                    some = u32::MAX;
                }
                e[v] = _mm512_mask_max_epi16(e[v], some, e[v], _mm512_adds_epi16(row, words));
            }
        }
        if !AMD {
            // A subnormal c has the exponent -126; the word of a zero is -127, below which only the floor matters.
            let least = _mm512_set1_epi16(-126 * UNIT);
            let c = addend_words(old);
            for v in 0..2 {
                let [even, odd] = [old[2 * v], old[2 * v + 1]]
                    .map(|c| u32::from(_mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(c, _mm512_setzero_ps())));
                let some = alternate(even, odd);
                e[v] = _mm512_mask_max_epi16(e[v], some, e[v], _mm512_max_epi16(c[v], least));
                if MUT & m::FLOOR == 0 {
                    e[v] = _mm512_max_epi16(e[v], _mm512_set1_epi16(floor));
                }
            }
        }
        for at in (0..PANEL).step_by(8) {
            let e = half(exponent(e, at / 16), at / 8 % 2);
            let units = power_pd(_mm256_sub_epi32(_mm256_set1_epi32(F), e));
            let mut sum = _mm256_setzero_si256();
            let (mut plus, mut minus) = (0, 0);
            for t in live.clone() {
                let v = _mm512_cvtps_pd(_mm256_loadu_ps(b.add(t * STEP).cast::<f32>().add(at)));
                let p = _mm512_mul_pd(_mm512_set1_pd(f64::from(factor(t))), v);
                sum = _mm256_add_epi32(sum, _mm512_cvttpd_epi32(_mm512_mul_pd(p, units)));
                plus |= _mm512_cmp_pd_mask::<_CMP_GE_OQ>(p, limit());
                minus |= _mm512_cmp_pd_mask::<_CMP_LE_OQ>(p, _mm512_sub_pd(_mm512_setzero_pd(), limit()));
            }
            let old = _mm256_loadu_ps(c.add(at));
            let mut x = add8::<F, AMD, MUT>(sum, e, old);
            if AMD && MUT & m::OVERFLOW == 0 {
                x = _mm256_mask_mov_ps(x, plus, _mm256_set1_ps(f32::INFINITY));
                x = _mm256_mask_mov_ps(x, minus, _mm256_set1_ps(f32::NEG_INFINITY));
                let nan = _mm256_castsi256_ps(_mm256_set1_epi32(0xFFC0_0000_u32 as i32));
                x = _mm256_mask_mov_ps(x, plus & minus, nan);
            }
            if MUT & m::STAYS == 0 {
                x = _mm256_mask_mov_ps(x, (stays >> at) as __mmask8, old);
            }
            _mm256_storeu_ps(c.add(at), x);
        }
        true
    }
}

/// Bits of `even` and `odd`, 16 each, alternating.
fn alternate(even: u32, odd: u32) -> u32 {
    let spread = |mut x: u32| {
        x = (x | x << 8) & 0x00FF_00FF;
        x = (x | x << 4) & 0x0F0F_0F0F;
        x = (x | x << 2) & 0x3333_3333;
        (x | x << 1) & 0x5555_5555
    };
    spread(even) | spread(odd) << 1
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn half(x: __m512i, i: usize) -> __m256i {
    if i == 0 { _mm512_castsi512_si256(x) } else { _mm512_extracti64x4_epi64::<1>(x) }
}

/// 2^128.
#[inline]
#[target_feature(enable = "avx512f")]
fn limit() -> __m512d {
    _mm512_set1_pd(f64::from_bits((1023 + 128) << 52))
}

/// d from the products' sum in units of 2^(E - F) and c, in fp64: exact, then rounded.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn add8<const F: i32, const AMD: bool, const MUT: u32>(sum: __m256i, e: __m256i, c: __m256) -> __m256 {
    let addend = _mm512_cvtps_pd(c);
    let quantum = power_pd(_mm256_sub_epi32(e, _mm256_set1_epi32(F)));
    if AMD {
        return nearest::<MUT>(_mm512_mul_pd(_mm512_cvtepi32_pd(sum), quantum), quantum, addend);
    }
    let units = power_pd(_mm256_sub_epi32(_mm256_set1_epi32(F), e));
    let addend = _mm512_cvttpd_epi32(_mm512_mul_pd(addend, units));
    let total = _mm512_cvtepi32_pd(_mm256_add_epi32(sum, addend));
    toward_zero::<MUT>(_mm512_mul_pd(total, quantum))
}

/// fp32 toward zero, infinite from 2^128 on, a zero as +0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn toward_zero<const MUT: u32>(x: __m512d) -> __m256 {
    let over = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(_mm512_abs_pd(x), limit());
    let cut = _mm256_add_ps(_mm512_cvt_roundpd_ps::<ZERO>(x), _mm256_setzero_ps());
    if MUT & m::OVERFLOW != 0 {
        return cut;
    }
    // To nearest, such a number is infinite.
    _mm256_mask_mov_ps(cut, over, _mm512_cvtpd_ps(x))
}

/// CDNA3's sum of the products' `sum`, a multiple of `quantum`, and c, to nearest even. Cutting the sum to
/// 2^(e_c - 32) first changes nothing: it cuts only where e_c > E + 8, where |sum| < 2^(E + 5), so that the total's
/// exponent is e_c - 1 or more and its own cut to n - 31 as coarse; for a zero or subnormal c, n >= -126 likewise.
/// Rounding the total to 53 bits, down, is finer than every cut. An infinity or NaN of c passes through.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn nearest<const MUT: u32>(sum: __m512d, quantum: __m512d, c: __m512d) -> __m256 {
    let float = |bits: u64| _mm512_set1_pd(f64::from_bits(bits));
    let exponent = |e: i32| float(((1023 + e) as u64) << 52);
    let origin = _mm512_mul_pd(quantum, float((1023 + 52) << 52 | 1 << 51));
    let floored = _mm512_sub_pd(_mm512_add_round_pd::<DOWN>(origin, c), origin);
    let below = _mm512_add_pd(sum, floored);

    let total = _mm512_add_round_pd::<DOWN>(sum, c);
    let rest = _mm512_set1_epi64((1 << 21) - 1);
    let negative = _mm512_movepi64_mask(_mm512_castpd_si512(total));
    let bits = _mm512_castpd_si512(total);
    let bits = _mm512_mask_add_epi64(bits, negative, bits, rest);
    let normal = _mm512_castsi512_pd(_mm512_andnot_si512(rest, bits));
    let mut above = if MUT & m::NORMAL == 0 { normal } else { total };
    // n >= -126: multiples of 2^-157.
    let tiny = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_abs_pd(total), exponent(-125));
    if MUT & m::TINY == 0 {
        let origin = float(((1023 - 105) << 52) | 1 << 51);
        let cut = _mm512_sub_pd(_mm512_add_round_pd::<DOWN>(origin, total), origin);
        above = _mm512_mask_mov_pd(above, tiny, cut);
    }
    // c dominates from 2^(E + 1) on; its exponent is at least -126.
    let magnitude = _mm512_max_pd(exponent(-126), _mm512_abs_pd(c));
    let bound = _mm512_mul_pd(quantum, exponent(25));
    let dominates = _mm512_cmp_pd_mask::<_CMP_NLT_UQ>(magnitude, bound);
    let a = _mm512_mask_mov_pd(below, dominates, above);
    // An exact zero is +0.
    _mm512_cvtpd_ps(_mm512_add_pd(a, _mm512_setzero_pd()))
}
