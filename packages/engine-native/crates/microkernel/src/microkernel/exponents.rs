//! Packing for sums in int32 lanes: values as fp32 beside their encoded exponents as words.
//!
//! A word holds 128 e, so that the sum of two is a product's exponent where fp32 has its own, in the upper or, shifted
//! by 16, the lower half of a doubleword. A zero's word is ZERO: with saturation its products lie at or below -129.
//! A block of A holds, each R x N: values, then words twice. A block of B holds per k 64 values and 64 words; word
//! 2l + h of vector v is that of column 32v + 16h + l.

use core::ops::Range;

use crate::PANEL;
use crate::lanes::{Lanes, gather};
use crate::microkernel::narrow::{mutation::TAIL, put, put_words};
use crate::pack::Layout;
use crate::words::View;

/// Exponent word of a zero.
pub const ZERO: i16 = i16::MIN;
/// What a product's exponent is multiplied by.
pub const UNIT: i16 = 128;

/// Bytes of one k in a block of B.
pub const STEP: usize = 6 * PANEL;

pub const fn b_block(n: usize) -> usize {
    n * STEP
}

pub const fn a_block(r: usize, n: usize) -> usize {
    r * n * 8
}

/// Word of column `col` among the 64.
const fn word_index(col: usize) -> usize {
    col / 32 * 32 + col % 16 * 2 + col / 16 % 2
}

/// Whether values and products of both are exact in fp32 beside fp32's exponent range.
pub fn fits(a: &Layout, b: &Layout) -> bool {
    let one = |l: &Layout| l.exponent_bits <= 8 && l.fraction_bits <= 10;
    one(a) && one(b)
}

#[inline(always)]
fn word(lanes: &Lanes, j: usize) -> i16 {
    if lanes.nonzero[j] != 0 { (lanes.e[j] * i32::from(UNIT)) as i16 } else { ZERO }
}

/// Blocks lie in the order [block][group of R rows]; `packed_k`, a multiple of N, is at least k.
#[inline(always)]
pub fn pack_a<const R: usize, const N: usize, const MUT: u32>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    packed_k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    let blocks = packed_k / N;
    let groups = rows.len().div_ceil(R);
    let mut lanes = Lanes::default();
    let mut words = [0u32; PANEL];
    for local in 0..groups * R {
        let (group, r) = (local / R, local % R);
        for k0 in (0..blocks * N).step_by(PANEL) {
            let live = if local < rows.len() { k.saturating_sub(k0).min(PANEL) } else { 0 };
            let mut items = gather(a, rows.start + local, k0, live);
            if MUT & TAIL != 0 {
                items[live..].fill(0x3838);
            }
            lanes.decode(layout, 0, &items);
            if lanes.bad != 0 {
                bad[local] = u64::MAX;
            }
            for j in 0..PANEL {
                words[j] = u32::from(word(&lanes, j) as u16).wrapping_mul(0x0001_0001);
            }
            for j in (0..PANEL.min(blocks * N - k0)).step_by(N) {
                let at = ((k0 + j) / N * groups + group) * a_block(R, N);
                let block = &mut out[at..at + a_block(R, N)];
                put::<4>(&mut block[r * N * 4..][..N * 4], &lanes.value[j..j + N]);
                put_words(&mut block[(R + r) * N * 4..][..N * 4], &words[j..j + N]);
            }
        }
    }
}

/// Returns the columns with a non-finite word.
#[inline(always)]
pub fn pack_b<const MUT: u32>(
    layout: &Layout,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    packed_k: usize,
    out: &mut [u8],
) -> u64 {
    let mut lanes = Lanes::default();
    let mut bad = 0;
    for row in 0..packed_k {
        let out = &mut out[row * STEP..][..STEP];
        let live = if row < k { cols.len() } else { 0 };
        let mut items = gather(b, row, cols.start, live);
        if MUT & TAIL != 0 {
            items[live..].fill(0x3838);
        }
        lanes.decode(layout, 0, &items);
        bad |= lanes.bad;
        put::<4>(&mut out[..4 * PANEL], &lanes.value);
        let mut words = [0u32; PANEL / 2];
        for j in 0..PANEL {
            let at = word_index(j);
            words[at / 2] |= u32::from(word(&lanes, j) as u16) << (at % 2 * 16);
        }
        put_words(&mut out[4 * PANEL..], &words);
    }
    bad
}
