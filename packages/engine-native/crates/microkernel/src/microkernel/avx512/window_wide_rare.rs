//! `window_wide` outside its common range of E.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::avx512::chain_f64::spread;
use crate::microkernel::avx512::window_wide::{Constants, join, load_words, mutation};
use crate::microkernel::wide::{FAR, words_at};

/// c where it is infinite, else x, infinite from 2^128 on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub fn infinities(x: [__m512d; 8], c: [__m512d; 8]) -> [__m512d; 8] {
    let infinity = _mm512_set1_pd(f64::INFINITY);
    let limit = _mm512_set1_pd(f64::from_bits((1023 + 128) << 52));
    core::array::from_fn(|i| {
        let stays = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(_mm512_abs_pd(c[i]), infinity);
        let x = _mm512_mask_mov_pd(x[i], stays, c[i]);
        let over = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(_mm512_abs_pd(x), limit);
        let sign = _mm512_and_pd(x, _mm512_set1_pd(-0.0));
        _mm512_mask_mov_pd(x, over, _mm512_or_pd(infinity, sign))
    })
}

/// Top words and thresholds of row `r` outside the common path, and whether any column can still change. E of columns
/// without a product is c's; flags those whose distance is not exact, and those whose quantum lies below fp32's (unless
/// they sum nothing).
///
/// # Safety
/// As the common step's; `exponents` covers 64 words of c.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
#[allow(clippy::too_many_arguments)]
pub unsafe fn repair<const N: usize, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    r: usize,
    d: __m512i,
    mut words: [__m512i; 2],
    exponents: *const u16,
    constants: &Constants,
    dead: &mut [u32; 2],
) -> ([__m512i; 2], __m512i, bool) {
    // SAFETY: as the caller's.
    let (addend, terms, columns, row_terms, row) = unsafe {
        let at = b.add(words_at(N));
        let row = |i: usize| _mm512_set1_epi32(a.add(8 * i + 4 * r).cast::<i32>().read());
        (load_words(exponents), load_words(at.add(2 * PANEL).cast()), load_words(at.cast()), row(1), row(0))
    };
    let (low, field) = (_mm512_set1_epi16(constants.low), _mm512_set1_epi16(constants.field));
    let infinite = _mm512_set1_epi16(constants.field.wrapping_add(0x7FF0));
    let near = spread(d);
    let mut alive = false;
    for i in 0..2 {
        let none = _mm512_testn_epi16_mask(terms[i], row_terms);
        if MUT & mutation::NONE == 0 {
            words[i] = _mm512_mask_mov_epi16(words[i], none, addend[i]);
        }
        let zero = _mm512_cmpeq_epi16_mask(addend[i], field);
        let far = _mm512_cmpge_epu16_mask(near[i], _mm512_set1_epi16(i16::from(FAR) << 4)) & !none;
        let below = _mm512_cmplt_epu16_mask(words[i], low) & !(none & zero);
        let stays = _mm512_cmpge_epu16_mask(addend[i], infinite);
        if MUT & mutation::FAR == 0 {
            dead[i] |= far & !stays;
        }
        if MUT & mutation::LOW == 0 {
            dead[i] |= below;
        }
        alive |= !(dead[i] | stays) != 0;
        // Neighbours' top words lie in the low bits of an origin: keep them in the range of `low_counts`.
        words[i] = _mm512_max_epu16(words[i], low);
    }
    let sum = columns.map(|x| _mm512_add_epi16(x, row));
    let floor: [_; 2] = core::array::from_fn(|i| {
        // T + 1 <= 255.
        _mm512_max_epu16(words[i], _mm512_subs_epu16(sum[i], _mm512_set1_epi16(0x0FF0)))
    });
    (words, join(sum, floor), alive)
}
