//! Shared parts of the AVX2 windows over narrow formats: distances of c and of the block, 4 rows by 64 columns.
//!
//! Packing is `narrow`'s with fp32 values. Byte 4l + i of 64 is column 16i + l, so that
//! byte i of the doublewords of the lower 32 bytes are columns 16i..16i+8, of the upper 16i+8..16i+16.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::microkernel::narrow::{self, TOP, a_parts, step};
use crate::pack::Layout;
use crate::words::View;

/// Rows of one register tile.
pub const ROWS: usize = 4;
/// Bytes of a value.
pub const V: usize = 4;
/// Distance of a zero c: beyond every nonzero one, near enough for 2^(E-F) and 2^(F-E) to be fp32 numbers.
const FAREST: i8 = 200_u8 as i8;

#[target_feature(enable = "avx2,fma")]
pub fn pack_a<const N: usize, const SPLIT: bool>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    narrow::pack_a::<V, ROWS, N, SPLIT, 0>(layout, a, rows, k, out, bad);
}

#[target_feature(enable = "avx2,fma")]
pub fn pack_b<const N: usize, const SPLIT: bool>(
    layout_a: &Layout,
    layout: &Layout,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    out: &mut [u8],
) -> u64 {
    narrow::pack_b::<V, N, SPLIT, 0>(layout_a, layout, 0, b, cols, k, out)
}

/// Distance bytes of 4 x 64 accumulators.
///
/// # Safety
/// `c` points at them.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn addend_distances(c: *const f32) -> [[__m256i; 2]; ROWS] {
    let byte = _mm256_set1_epi32(0xFF);
    // SAFETY: the offsets stay inside the accumulators.
    unsafe {
        core::array::from_fn(|r| {
            core::array::from_fn(|half| {
                let field = |i: usize| {
                    let bits = _mm256_loadu_si256(c.add(r * PANEL + 16 * i + 8 * half).cast());
                    _mm256_and_si256(_mm256_srli_epi32::<23>(bits), byte)
                };
                let low = _mm256_or_si256(field(0), _mm256_slli_epi32::<8>(field(1)));
                let high = _mm256_or_si256(field(2), _mm256_slli_epi32::<8>(field(3)));
                let fields = _mm256_or_si256(low, _mm256_slli_epi32::<16>(high));
                let d = _mm256_sub_epi8(_mm256_set1_epi8((127 + TOP) as u8 as i8), fields);
                _mm256_min_epu8(d, _mm256_set1_epi8(FAREST))
            })
        })
    }
}

/// Distance bytes of the block step: the least of the products' and c's.
///
/// # Safety
/// `a` and `b` point at blocks, `c` at 4 x 64 accumulators.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn distances<const N: usize>(a: *const u8, b: *const u8, c: *const f32) -> [[__m256i; 2]; ROWS] {
    let [_, da_at, _] = a_parts(V, ROWS, N);
    // SAFETY: the offsets stay inside the ranges named above.
    unsafe {
        let mut d = addend_distances(c);
        for t in 0..N {
            let db: [__m256i; 2] = core::array::from_fn(|half| {
                _mm256_loadu_si256(b.add(t * step(V) + V * PANEL + 32 * half).cast())
            });
            for r in 0..ROWS {
                let da = _mm256_set1_epi32(a.add(da_at + (r * N + t) * 4).cast::<i32>().read());
                for half in 0..2 {
                    d[r][half] = _mm256_min_epu8(d[r][half], _mm256_add_epi8(da, db[half]));
                }
            }
        }
        d
    }
}

/// 2^(base - d) as fp32 words of 8 columns, byte `i` of `d`; `base` is a biased exponent, shifted.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub fn shifted(d: __m256i, i: usize) -> __m256i {
    let d = _mm256_srl_epi32(d, _mm_cvtsi32_si128(8 * i as i32));
    _mm256_slli_epi32::<23>(_mm256_and_si256(d, _mm256_set1_epi32(0xFF)))
}
