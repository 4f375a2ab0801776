//! Byte codes and packing of formats with fp32's exponent range (bf16, tf32) for the fp64 floor chain.
//!
//! Codes are relative to the largest exponent of the block's row of A and column of B: da = amax - e and
//! db = bmax - e + F + 1, a zero 255; their least sum, saturating at 255, is amax + bmax - E + F + 1. Lowest set bits:
//! la = amax - low(a), lb = bmax - low(b); a product is inexact iff la + lb > T = amax + bmax - E + F. B holds lb + 1 as
//! `narrow` does. Codes are capped at 254 (zero stays apart) and 255: below FAR a least sum, and T + 1 with it, is not
//! mistaken; from there on it is left to the caller's care.
//!
//! A block of A begins with HEAD bytes: for each of 2 rows amax's part of the top word, twice, then for each row
//! the mask of its nonzero terms, twice; the rest is `narrow`'s. A block of B ends with 64 exponents bmax + F + 1, times 16, as words
//! (those of even bytes, then of odd bytes), and the 64 masks of nonzero terms, as words in the same order.

use core::ops::Range;

use crate::PANEL;
use crate::lanes::{Lanes, gather};
use crate::microkernel::narrow::{self, a_parts, step};
use crate::pack::Layout;
use crate::words::View;

/// Bytes of a value, rows of a register tile.
const V: usize = 8;
const R: usize = 2;
pub const HEAD: usize = 64;

/// Exponent of a block without nonzero terms, below every other.
const NONE: i32 = -1 << 20;

/// Least sums from this on are not exact enough.
pub const FAR: u8 = 253;

pub const fn a_block(n: usize) -> usize {
    HEAD + narrow::a_block(V, R, n)
}

/// Offset of the exponent words in a block of B; the masks follow 128 bytes later.
pub const fn words_at(n: usize) -> usize {
    narrow::b_block(V, n)
}

pub const fn b_block(n: usize) -> usize {
    words_at(n) + 4 * PANEL
}

/// Index of column `col` among the 64 words: lane 8i + l is word i / 2 of quadword l of vector i % 2.
pub const fn word_index(col: usize) -> usize {
    let (i, l) = (col / 8, col % 8);
    i % 2 * 32 + 4 * l + i / 2
}

/// Column of word `i` of half `half`.
pub const fn column(half: usize, i: usize) -> usize {
    (i % 4 * 2 + half) * 8 + i / 4
}

/// `base`: what amax + bmax lacks of M's biased exponent.
#[inline(always)]
pub fn pack_a<const N: usize>(
    layout: &Layout,
    base: i32,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    let blocks = k.div_ceil(N);
    let groups = rows.len().div_ceil(R);
    let [la_at, da_at, offset_at] = a_parts(V, R, N);
    let mut lanes = Lanes::default();
    let (mut top, mut mask) = ([0i32; PANEL], [0u32; PANEL]);
    let (mut la, mut da, mut offset) = ([0u32; PANEL], [0u32; PANEL], [0u32; PANEL]);
    for local in 0..groups * R {
        let (group, r) = (local / R, local % R);
        for k0 in (0..blocks * N).step_by(PANEL) {
            let live = if local < rows.len() { k.saturating_sub(k0).min(PANEL) } else { 0 };
            lanes.decode(layout, 0, &gather(a, rows.start + local, k0, live));
            if lanes.bad != 0 {
                bad[local] = u64::MAX;
            }
            // Largest exponent and mask of nonzero terms of each lane's block, by halves exchanged.
            for j in 0..PANEL {
                let some = lanes.nonzero[j] != 0;
                top[j] = if some { lanes.e[j] } else { NONE };
                mask[j] = lanes.nonzero[j] << (j % N);
            }
            let mut d = 1;
            while d < N {
                let (t, m) = (top, mask);
                for j in 0..PANEL {
                    top[j] = t[j].max(t[j ^ d]);
                    mask[j] = m[j] | m[j ^ d];
                }
                d *= 2;
            }
            for j in 0..PANEL {
                let some = 0u32.wrapping_sub(lanes.nonzero[j]);
                la[j] = ((top[j] - lanes.low[j]).min(255) as u32 & some).wrapping_mul(0x0101_0101);
                let d = (top[j] - lanes.e[j]).min(254) as u32 & some | 255 & !some;
                da[j] = d.wrapping_mul(0x0101_0101);
                let row = (j % N * step(V) + V * PANEL + PANEL) as u32 + lanes.negative[j] * PANEL as u32;
                offset[j] = row & some | (N * step(V)) as u32 & !some;
            }
            for j in (0..PANEL.min(blocks * N - k0)).step_by(N) {
                let at = ((k0 + j) / N * groups + group) * a_block(N);
                let (head, block) = out[at..at + a_block(N)].split_at_mut(HEAD);
                let top = if top[j] == NONE { 0 } else { top[j] };
                let word = ((top + base) << 4 | 8) as u32;
                head[r * 4..][..4].copy_from_slice(&(word << 16 | word).to_le_bytes());
                head[8 + r * 4..][..4].copy_from_slice(&(mask[j] << 16 | mask[j]).to_le_bytes());
                narrow::put::<V>(&mut block[r * N * V..][..N * V], &lanes.value[j..j + N]);
                narrow::put_words(&mut block[la_at + r * N * 4..][..N * 4], &la[j..j + N]);
                narrow::put_words(&mut block[da_at + r * N * 4..][..N * 4], &da[j..j + N]);
                narrow::put_words(&mut block[offset_at + r * N * 4..][..N * 4], &offset[j..j + N]);
            }
        }
    }
}

/// `reach`: F + 1. Returns the columns with a non-finite word.
#[inline(always)]
pub fn pack_b<const N: usize>(
    layout: &Layout,
    reach: i32,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    out: &mut [u8],
) -> u64 {
    let mut lanes: Vec<Lanes> = (0..N).map(|_| Lanes::default()).collect();
    let mut bad = 0;
    let mut codes = [[0u32; PANEL]; 3];
    for block in 0..k.div_ceil(N) {
        let out = &mut out[block * b_block(N)..][..b_block(N)];
        let mut top = [NONE; PANEL];
        let mut mask = [0u32; PANEL];
        for (t, lanes) in lanes.iter_mut().enumerate() {
            let row = block * N + t;
            let live = if row < k { cols.len() } else { 0 };
            lanes.decode(layout, 0, &gather(b, row, cols.start, live));
            bad |= lanes.bad;
            for j in 0..PANEL {
                let some = lanes.nonzero[j];
                top[j] = top[j].max(if some != 0 { lanes.e[j] } else { NONE });
                mask[j] |= some << t;
            }
        }
        for j in 0..PANEL {
            top[j] = if mask[j] == 0 { 0 } else { top[j] };
        }
        for (t, lanes) in lanes.iter().enumerate() {
            let out = &mut out[t * step(V)..][..step(V)];
            narrow::put::<V>(&mut out[..V * PANEL], &lanes.value);
            for j in 0..PANEL {
                let some = 0u32.wrapping_sub(lanes.nonzero[j]);
                let negative = 0u32.wrapping_sub(lanes.negative[j]);
                let code = (top[j] - lanes.low[j] + 1).min(255) as u32 & some;
                codes[0][j] = (top[j] - lanes.e[j] + reach).min(254) as u32 & some | 255 & !some;
                codes[1][j] = code & negative;
                codes[2][j] = code & !negative;
            }
            for (codes, out) in codes.iter().zip(out[V * PANEL..].chunks_exact_mut(PANEL)) {
                narrow::transpose::<V>(codes, out);
            }
        }
        let (zeros, tail) = out[N * step(V)..].split_at_mut(PANEL);
        zeros.fill(0);
        let (words, masks) = tail.split_at_mut(2 * PANEL);
        for j in 0..PANEL {
            top[j] = (top[j] + reach) << 4;
        }
        put_halves(words, &top.map(|x| x as u16));
        put_halves(masks, &mask.map(|x| x as u16));
    }
    bad
}

/// Words of 64 columns in the order of [`word_index`].
#[inline(always)]
fn put_halves(out: &mut [u8], words: &[u16; PANEL]) {
    for (half, out) in out.chunks_exact_mut(PANEL).enumerate() {
        let mut x = [0u64; 8];
        for w in 0..4 {
            for l in 0..8 {
                x[l] |= u64::from(words[(2 * w + half) * 8 + l]) << (16 * w);
            }
        }
        for (to, x) in out.chunks_exact_mut(8).zip(x) {
            to.copy_from_slice(&x.to_le_bytes());
        }
    }
}
