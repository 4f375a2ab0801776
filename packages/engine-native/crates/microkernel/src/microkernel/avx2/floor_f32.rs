//! The floor chain in fp32: packing and distances; 4 rows by 64 columns. The loop over a block's terms is `floor_chain`.
//!
//! S starts at M whose last place is the quantum 2^(E-F); S = fma(a, b, S), rounded down, adds floor(a * b). A negative
//! product that is not a multiple of the quantum was cut one quantum too low, and is counted: codes hold the sign in bit 7
//! and low(x) - least below, low the exponent of the lowest set bit, least the smallest of the format. Their sum as a
//! signed byte is below T - 128, T = E - F - both leasts, iff the product is negative and inexact. T is at most ZERO: a
//! zero's code counts as no less, nor do two of them carry into the sign.
//!
//! A block of A holds per term, of 4 rows each: values, codes x 4, distances x 4; a block of B 64 values, 64 distances, 64
//! codes. Distances and the order of bytes are `narrow`'s.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::lanes::{Lanes, gather};
use crate::microkernel::avx2::exact_path::Codes;
use crate::microkernel::avx2::narrow::{ROWS, addend_distances};
use crate::microkernel::narrow::mutation::{TAIL, ZERO_CODE};
use crate::microkernel::narrow::{SHARE, TOP, ZERO, put, put_words, transpose};
use crate::pack::Layout;
use crate::words::View;

/// Code of a zero's lowest bit: above the sum of any two others, and of such formats alone.
pub const ZERO_LOW: i32 = 63;
/// Bytes of a term of A and of B.
pub const A_STEP: usize = 48;
pub const B_STEP: usize = 384;

pub const fn a_block(n: usize) -> usize {
    n * A_STEP
}

pub const fn b_block(n: usize) -> usize {
    n * B_STEP
}

/// Exponent of the format's smallest number.
pub fn least(l: &Layout) -> i32 {
    l.emin() - l.fraction_bits as i32
}

/// What the codes and distances of A, or of B beside `other`, mean.
pub fn row_codes(l: &Layout) -> Codes {
    Codes { least: least(l), nearest: SHARE + l.emax() }
}

pub fn column_codes(l: &Layout, other: &Layout) -> Codes {
    Codes { least: least(l), nearest: TOP - SHARE - other.emax() }
}

/// Whether codes of both formats add up as above.
pub fn codes_fit(a: &Layout, b: &Layout) -> bool {
    a.emax() - least(a) + b.emax() - least(b) < ZERO_LOW
}

#[inline(always)]
fn codes<const MUT: u32>(l: &Layout, lanes: &Lanes) -> [u32; PANEL] {
    let zero = if MUT & ZERO_CODE == 0 { ZERO_LOW } else { 0 };
    core::array::from_fn(|j| {
        let low = if lanes.nonzero[j] != 0 { lanes.low[j] - least(l) } else { zero };
        low as u32 | lanes.negative[j] << 7
    })
}

#[target_feature(enable = "avx2,fma")]
pub fn pack_a<const N: usize, const MUT: u32>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    let terms = k.next_multiple_of(N);
    let groups = rows.len().div_ceil(ROWS);
    let top = layout.emax();
    let mut lanes = Lanes::default();
    for local in 0..groups * ROWS {
        let (group, r) = (local / ROWS, local % ROWS);
        for k0 in (0..terms).step_by(PANEL) {
            let live = if local < rows.len() { k.saturating_sub(k0).min(PANEL) } else { 0 };
            let mut words = gather(a, rows.start + local, k0, live);
            if MUT & TAIL != 0 {
                words[live..].fill(0x38);
            }
            lanes.decode(layout, 0, &words);
            if lanes.bad != 0 {
                bad[local] = u64::MAX;
            }
            let codes = codes::<MUT>(layout, &lanes);
            for j in 0..PANEL.min(terms - k0) {
                let d = if lanes.nonzero[j] != 0 { SHARE + top - lanes.e[j] } else { ZERO } as u32;
                let at = ((k0 + j) / N * groups + group) * a_block(N) + (k0 + j) % N * A_STEP + 4 * r;
                put::<4>(&mut out[at..at + 4], &lanes.value[j..=j]);
                put_words(&mut out[at + 16..at + 20], &[codes[j].wrapping_mul(0x0101_0101)]);
                put_words(&mut out[at + 32..at + 36], &[d.wrapping_mul(0x0101_0101)]);
            }
        }
    }
}

/// Returns the columns with a non-finite word.
#[target_feature(enable = "avx2,fma")]
pub fn pack_b<const N: usize, const MUT: u32>(
    layout_a: &Layout,
    layout: &Layout,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    out: &mut [u8],
) -> u64 {
    // Completes A's distance to TOP - (e_a + e_b).
    let base = column_codes(layout, layout_a).nearest;
    let mut lanes = Lanes::default();
    let mut bad = 0;
    for (row, out) in out.chunks_exact_mut(B_STEP).take(k.next_multiple_of(N)).enumerate() {
        let live = if row < k { cols.len() } else { 0 };
        let mut words = gather(b, row, cols.start, live);
        if MUT & TAIL != 0 {
            words[live..].fill(0x38);
        }
        lanes.decode(layout, 0, &words);
        bad |= lanes.bad;
        let (values, bytes) = out.split_at_mut(4 * PANEL);
        let (distances, code_bytes) = bytes.split_at_mut(PANEL);
        put::<4>(values, &lanes.value);
        let d =
            core::array::from_fn(|j| (if lanes.nonzero[j] != 0 { base - lanes.e[j] } else { ZERO }) as u32);
        transpose::<4>(&d, distances);
        transpose::<4>(&codes::<MUT>(layout, &lanes), code_bytes);
    }
    bad
}

/// Distance bytes of the block step: the least of the products' and c's.
///
/// # Safety
/// `a` and `b` point at blocks of N terms, `c` at 4 x 64 accumulators.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn distances<const N: usize>(a: *const u8, b: *const u8, c: *const f32) -> [[__m256i; 2]; ROWS] {
    // SAFETY: the offsets stay inside the ranges named above.
    unsafe {
        let mut d = addend_distances(c);
        for t in 0..N {
            // The next rows' block of A, and some of their accumulators.
            _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(a_block(N) + t * A_STEP).cast());
            _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add(ROWS * PANEL + t % 16 * 16).cast());
            let db: [__m256i; 2] = core::array::from_fn(|half| {
                _mm256_loadu_si256(b.add(t * B_STEP + 4 * PANEL + 32 * half).cast())
            });
            for r in 0..ROWS {
                let da = _mm256_set1_epi32(a.add(t * A_STEP + 32 + 4 * r).cast::<i32>().read());
                for half in 0..2 {
                    d[r][half] = _mm256_min_epu8(d[r][half], _mm256_add_epi8(da, db[half]));
                }
            }
        }
        d
    }
}
