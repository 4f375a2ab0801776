//! Byte codes and packing of narrow formats (encoded exponents in -15..15) for the fp64 chain.
//!
//! Distances d = 100 - e: da + db is a product's, 70..130, and the minimum with c's gives E = 100 - d. A zero's code of
//! 125 puts its products at 160 or more, which no c of the accepted range (0, or e in -60..100) exceeds. Lowest set
//! bits: la + lb = L - low(a) - low(b), L the largest low of both formats; a product is inexact iff
//! la + lb > T = d + F + L - 100. B holds lb + 1 twice, where a > 0 and where a < 0, with 0 where the product would be
//! positive or zero: the count is of codes above the saturated T + 1 - la.

use core::ops::Range;

use crate::PANEL;
use crate::lanes::{Lanes, gather};
use crate::microkernel::avx512::chain_f64::{
    ASTEP, CODES, DISTANCES, HEAD, ITEM, ROWS, STEP, a_block, b_block,
};
use crate::pack::Layout;
use crate::words::View;

/// Exponent of distance 0, the largest of c.
pub const TOP: i32 = 100;
/// A's share of the smallest product distance, TOP - 30.
pub const SHARE: i32 = (TOP - 30) / 2;
/// Distance of a zero operand: with SHARE it exceeds the distance of every accepted c, twice it is a byte.
pub const ZERO: u8 = 125;
/// Smallest exponent of c.
pub const C_LEAST: i32 = TOP - SHARE - ZERO as i32;

pub fn fits(l: &Layout) -> bool {
    l.emin() >= -15 && l.emax() <= 15
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
pub fn pack_a<const N: usize>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    let blocks = k.div_ceil(N);
    let top = layout.emax();
    let mut lanes = Lanes::default();
    for local in 0..rows.len().next_multiple_of(ROWS) {
        let pair = &mut out[local / ROWS * blocks * a_block(N)..][..blocks * a_block(N)];
        for k0 in (0..blocks * N).step_by(PANEL) {
            let live = if local < rows.len() { k.saturating_sub(k0).min(PANEL) } else { 0 };
            lanes.decode(layout, 0, &gather(a, rows.start + local, k0, false, live));
            if lanes.bad != 0 {
                bad[local] = u64::MAX;
            }
            for j in 0..PANEL.min(blocks * N - k0) {
                let t = (k0 + j) % N;
                let at = (k0 + j) / N * a_block(N) + HEAD + t * ASTEP + local % ROWS * ITEM;
                let zero = lanes.nonzero >> j & 1 == 0;
                let negative = (lanes.negative >> j & 1) as usize;
                let da = if zero { u32::from(ZERO) } else { (SHARE + top - lanes.e[j]) as u32 };
                let la = if zero { 0 } else { (top - lanes.low[j]) as u32 };
                let offset = if zero { N * STEP } else { t * STEP + CODES + negative * PANEL };
                let item = &mut pair[at..at + ITEM];
                item[..8].copy_from_slice(&lanes.value[j].to_le_bytes());
                item[8..12].copy_from_slice(&(la * 0x0101_0101).to_le_bytes());
                item[12..16].copy_from_slice(&(da * 0x0101_0101).to_le_bytes());
                item[16..].copy_from_slice(&(offset as u64).to_le_bytes());
            }
        }
    }
}

/// `scale`: B's values carry a factor 2^scale.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
pub fn pack_b<const N: usize>(
    layout_a: &Layout,
    layout: &Layout,
    scale: i32,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    out: &mut [u8],
) -> u64 {
    // db completes da to TOP - (e_a + e_b).
    let base = TOP - SHARE - layout_a.emax();
    let low = layout.emax() + 1;
    let mut lanes = Lanes::default();
    let mut bad = 0;
    for row in 0..k.next_multiple_of(N) {
        if row % N == 0 {
            out[row / N * b_block(N) + N * STEP..][..PANEL].fill(0);
        }
        let step = &mut out[row / N * b_block(N) + row % N * STEP..][..STEP];
        let live = if row < k { cols.len() } else { 0 };
        lanes.decode(layout, scale, &gather(b, row, cols.start, false, live));
        bad |= lanes.bad;
        for (to, value) in step[..8 * PANEL].chunks_exact_mut(8).zip(&lanes.value) {
            to.copy_from_slice(&value.to_le_bytes());
        }
        let bytes = &mut step[DISTANCES..];
        for j in 0..PANEL {
            let zero = lanes.nonzero >> j & 1 == 0;
            let code = if zero { 0 } else { (low - lanes.low[j]) as u8 };
            let negative = lanes.negative >> j & 1 == 1;
            let p = j % 8 * 8 + j / 8;
            bytes[p] = if zero { ZERO } else { (base - lanes.e[j]) as u8 };
            bytes[PANEL + p] = if negative { code } else { 0 };
            bytes[2 * PANEL + p] = if negative { 0 } else { code };
        }
    }
    bad
}
