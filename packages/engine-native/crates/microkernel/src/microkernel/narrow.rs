//! Byte codes and packing of narrow formats (encoded exponents in -15..15) for the floor chains.
//!
//! Distances d = 100 - e: da + db is a product's, 70..130, and the minimum with c's gives E = 100 - d. A zero's code of
//! 125 puts its products at 160 or more, which no c of the accepted range (0, or e in -60..100) exceeds. Lowest set
//! bits: la + lb = L - low(a) - low(b), L the largest low of both formats; a product is inexact iff
//! la + lb > T = d + F + L - 100. B holds lb + 1 twice, where a > 0 and where a < 0, with 0 where the product would be
//! positive or zero: the count is of codes above the saturated T + 1 - la.
//!
//! `V` is the bytes of a value, 4 (fp32) or 8 (fp64); `R` the rows of a register tile. A block of A holds, each R x N:
//! values, la x 4, da x 4, offsets of the codes in the block of B. A block of B holds per k 64 values, 64 distances, 64
//! codes for a > 0, 64 for a < 0; at its end 64 codes of zero. Lane l of vector i is column
//! (64 / V) i + l, and byte V l + i of a group of 64.

use core::ops::Range;

use crate::PANEL;
use crate::lanes::{Lanes, gather};
use crate::pack::Layout;
use crate::words::View;

/// Exponent of distance 0, the largest of c.
pub const TOP: i32 = 100;
/// A's share of the smallest product distance, TOP - 30.
pub const SHARE: i32 = (TOP - 30) / 2;
/// Distance of a zero operand: with SHARE it exceeds the distance of every accepted c, twice it is a byte.
pub const ZERO: i32 = 125;
/// Smallest exponent of c.
pub const C_LEAST: i32 = TOP - SHARE - ZERO;

/// Faults that tests plant: bits of the kernels' `MUT`.
pub mod mutation {
    pub const SIGN_FIX: u32 = 1;
    pub const ADDEND_FIX: u32 = 2;
    pub const ZERO_CODE: u32 = 4;
    pub const CLAMP: u32 = 8;
    pub const AND_MASK: u32 = 16;
    pub const TAIL: u32 = 32;
    pub const ADDEND_LIMIT: u32 = 64;
}
use mutation::{TAIL, ZERO_CODE};

pub fn fits(l: &Layout) -> bool {
    l.emin() >= -15 && l.emax() <= 15
}

/// Whether c is zero or has an exponent in the accepted range.
pub fn addend_ok(word: u32) -> bool {
    let e = (word >> 23 & 0xFF) as i32 - 127;
    word << 1 == 0 || (C_LEAST..=TOP).contains(&e)
}

/// Bytes of one k in a block of B.
pub const fn step(v: usize) -> usize {
    v * PANEL + 3 * PANEL
}

pub const fn b_block(v: usize, n: usize) -> usize {
    n * step(v) + PANEL
}

pub const fn a_block(v: usize, r: usize, n: usize) -> usize {
    r * n * (v + 12)
}

/// Offsets of la, da and the code offsets in a block of A.
pub const fn a_parts(v: usize, r: usize, n: usize) -> [usize; 3] {
    [r * n * v, r * n * (v + 4), r * n * (v + 8)]
}

#[inline(always)]
pub fn put<const V: usize>(out: &mut [u8], values: &[f64]) {
    if V == 8 {
        for (to, value) in out.chunks_exact_mut(8).zip(values) {
            to.copy_from_slice(&value.to_le_bytes());
        }
    } else {
        for (to, value) in out.chunks_exact_mut(4).zip(values) {
            to.copy_from_slice(&(*value as f32).to_le_bytes());
        }
    }
}

#[inline(always)]
pub fn put_words(out: &mut [u8], words: &[u32]) {
    for (to, word) in out.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}

/// Packed positions of K: whole blocks, whole pairs of them where the instruction splits 32 k in two.
pub const fn packed_k<const N: usize, const SPLIT: bool>(k: usize) -> usize {
    k.next_multiple_of(if SPLIT { 2 * N } else { N })
}

/// The k that packed position `i` holds. Where the instruction splits: of 32, the 16 with bit 1 clear come first
/// (N = 16, NVIDIA); of 16, the 8 with bit 0 clear (N = 8, AMD).
const fn source<const N: usize, const SPLIT: bool>(i: usize) -> usize {
    if !SPLIT {
        i
    } else if N == 8 {
        i / 16 * 16 + i % 8 * 2 + i % 16 / 8
    } else {
        i / 32 * 32 + i % 16 / 2 * 4 + i % 2 + i % 32 / 16 * 2
    }
}

/// Blocks lie in the order [block][group of R rows], so that a step over all rows streams.
#[inline(always)]
pub fn pack_a<const V: usize, const R: usize, const N: usize, const SPLIT: bool, const MUT: u32>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    let blocks = packed_k::<N, SPLIT>(k) / N;
    let groups = rows.len().div_ceil(R);
    let top = layout.emax();
    let [la_at, da_at, offset_at] = a_parts(V, R, N);
    let mut lanes = Lanes::default();
    let (mut la, mut da, mut offset) = ([0u32; PANEL], [0u32; PANEL], [0u32; PANEL]);
    for local in 0..groups * R {
        let (group, r) = (local / R, local % R);
        for k0 in (0..blocks * N).step_by(PANEL) {
            let live = if local < rows.len() { k.saturating_sub(k0).min(PANEL) } else { 0 };
            let mut words = gather(a, rows.start + local, k0, live);
            if MUT & TAIL != 0 {
                words[live..].fill(0x38);
            }
            if SPLIT {
                words = core::array::from_fn(|j| words[source::<N, SPLIT>(j)]);
            }
            lanes.decode(layout, 0, &words);
            if lanes.bad != 0 {
                bad[local] = u64::MAX;
            }
            for j in 0..PANEL {
                let some = 0u32.wrapping_sub(lanes.nonzero[j]);
                la[j] = ((top - lanes.low[j]) as u32 & some).wrapping_mul(0x0101_0101);
                let d = (SHARE + top - lanes.e[j]) as u32 & some | ZERO as u32 & !some;
                da[j] = d.wrapping_mul(0x0101_0101);
                let row = (j % N * step(V) + V * PANEL + PANEL) as u32 + lanes.negative[j] * PANEL as u32;
                let zero = if MUT & ZERO_CODE == 0 { (N * step(V)) as u32 } else { row };
                offset[j] = row & some | zero & !some;
            }
            for j in (0..PANEL.min(blocks * N - k0)).step_by(N) {
                let at = ((k0 + j) / N * groups + group) * a_block(V, R, N);
                let block = &mut out[at..at + a_block(V, R, N)];
                put::<V>(&mut block[r * N * V..][..N * V], &lanes.value[j..j + N]);
                put_words(&mut block[la_at + r * N * 4..][..N * 4], &la[j..j + N]);
                put_words(&mut block[da_at + r * N * 4..][..N * 4], &da[j..j + N]);
                put_words(&mut block[offset_at + r * N * 4..][..N * 4], &offset[j..j + N]);
            }
        }
    }
}

/// `scale`: B's values carry a factor 2^scale. Returns the columns with a non-finite word.
#[inline(always)]
pub fn pack_b<const V: usize, const N: usize, const SPLIT: bool, const MUT: u32>(
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
    let mut codes = [[0u32; PANEL]; 3];
    for row in 0..packed_k::<N, SPLIT>(k) {
        let block = &mut out[row / N * b_block(V, N)..][..b_block(V, N)];
        if row % N == 0 {
            block[N * step(V)..].fill(0);
        }
        let out = &mut block[row % N * step(V)..][..step(V)];
        let from = source::<N, SPLIT>(row);
        let live = if from < k { cols.len() } else { 0 };
        let mut words = gather(b, from, cols.start, live);
        if MUT & TAIL != 0 {
            words[live..].fill(0x38);
        }
        lanes.decode(layout, scale, &words);
        bad |= lanes.bad;
        put::<V>(&mut out[..V * PANEL], &lanes.value);
        for j in 0..PANEL {
            let some = 0u32.wrapping_sub(lanes.nonzero[j]);
            let negative = 0u32.wrapping_sub(lanes.negative[j]);
            let code = (low - lanes.low[j]) as u32 & some;
            codes[0][j] = (base - lanes.e[j]) as u32 & some | ZERO as u32 & !some;
            codes[1][j] = code & negative;
            codes[2][j] = code & !negative;
        }
        for (codes, out) in codes.iter().zip(out[V * PANEL..].chunks_exact_mut(PANEL)) {
            transpose::<V>(codes, out);
        }
    }
    bad
}

/// Byte V l + i of `out` is item (64 / V) i + l, each below 256.
#[inline(always)]
pub fn transpose<const V: usize>(items: &[u32; PANEL], out: &mut [u8]) {
    if V == 8 {
        let mut x = [0u64; 8];
        for i in 0..8 {
            for l in 0..8 {
                x[l] |= u64::from(items[8 * i + l]) << (8 * i);
            }
        }
        for (to, x) in out.chunks_exact_mut(8).zip(x) {
            to.copy_from_slice(&x.to_le_bytes());
        }
    } else {
        let mut x = [0u32; 16];
        for i in 0..4 {
            for l in 0..16 {
                x[l] |= items[16 * i + l] << (8 * i);
            }
        }
        put_words(out, &x);
    }
}
