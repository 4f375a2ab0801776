//! Byte codes and packing of formats with fp32's exponent range (bf16, tf32) for the fp64 floor chain.
//!
//! Codes are relative to the largest exponent of the block's row of A and column of B: da = amax - e, db = bmax - e,
//! at most 254, a zero 255; E = amax + bmax - min(da + db), sums saturating at 255. Lowest set bits: la = amax - low(a),
//! lb = bmax - low(b); a product is inexact iff la + lb > T = d + F (d the distance of E from amax + bmax). B holds
//! lb + 1, at most 255, as `narrow` does. With T <= 252 no capped code is mistaken: a distance of FAR or more is left to
//! the caller's care.
//!
//! A block of A begins with HEAD bytes: for each of 2 rows the low 16 bits of its top word twice, then for each row
//! its nonzero terms as a mask; the rest is `narrow`'s. A block of B ends with 64 exponents bmax, times 16, as words
//! (those of even bytes, then of odd bytes), and 64 masks of nonzero terms.

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

/// Distances from this on are not exact enough.
pub const fn far(fraction: i32) -> i32 {
    252 - fraction
}

pub const fn a_block(n: usize) -> usize {
    HEAD + narrow::a_block(V, R, n)
}

/// Offset of the exponent words in a block of B; the masks follow 128 bytes later.
pub const fn words_at(n: usize) -> usize {
    narrow::b_block(V, n)
}

pub const fn b_block(n: usize) -> usize {
    words_at(n) + 2 * PANEL + 4 * PANEL
}

/// Index of column `col` among the 64 words: lane 8i + l is word i / 2 of quadword l of vector i % 2.
pub const fn word_index(col: usize) -> usize {
    let (i, l) = (col / 8, col % 8);
    i % 2 * 32 + 4 * l + i / 2
}

/// Index of column `col` among the 64 bytes.
pub const fn byte_index(col: usize) -> usize {
    col % 8 * 8 + col / 8
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
    for local in 0..groups * R {
        let (group, r) = (local / R, local % R);
        for k0 in (0..blocks * N).step_by(PANEL) {
            let live = if local < rows.len() { k.saturating_sub(k0).min(PANEL) } else { 0 };
            lanes.decode(layout, 0, &gather(a, rows.start + local, k0, live));
            if lanes.bad != 0 {
                bad[local] = u64::MAX;
            }
            for j in (0..PANEL.min(blocks * N - k0)).step_by(N) {
                let at = ((k0 + j) / N * groups + group) * a_block(N);
                let (head, block) = out[at..at + a_block(N)].split_at_mut(HEAD);
                let mut top = i32::MIN;
                let mut mask = 0;
                for t in 0..N {
                    let some = lanes.nonzero[j + t] != 0;
                    top = top.max(if some { lanes.e[j + t] } else { i32::MIN });
                    mask |= u32::from(some) << t;
                }
                let top = if mask == 0 { 0 } else { top };
                let word = ((top + base) << 4 | 8) as u16;
                head[r * 4..][..2].copy_from_slice(&word.to_le_bytes());
                head[r * 4 + 2..][..2].copy_from_slice(&word.to_le_bytes());
                head[8 + r * 4..][..4].copy_from_slice(&mask.to_le_bytes());
                for t in 0..N {
                    let l = j + t;
                    let some = lanes.nonzero[l] != 0;
                    let la = if some { (top - lanes.low[l]).min(255) as u32 } else { 0 };
                    let da = if some { (top - lanes.e[l]).min(254) as u32 } else { 255 };
                    let row = (t * step(V) + V * PANEL + PANEL) as u32 + lanes.negative[l] * PANEL as u32;
                    let offset = if some { row } else { (N * step(V)) as u32 };
                    let i = r * N + t;
                    block[i * V..][..V].copy_from_slice(&lanes.value[l].to_le_bytes());
                    block[la_at + i * 4..][..4].copy_from_slice(&(la * 0x0101_0101).to_le_bytes());
                    block[da_at + i * 4..][..4].copy_from_slice(&(da * 0x0101_0101).to_le_bytes());
                    block[offset_at + i * 4..][..4].copy_from_slice(&offset.to_le_bytes());
                }
            }
        }
    }
}

/// Returns the columns with a non-finite word.
#[inline(always)]
pub fn pack_b<const N: usize>(
    layout: &Layout,
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
        let mut top = [i32::MIN; PANEL];
        let mut mask = [0u32; PANEL];
        for (t, lanes) in lanes.iter_mut().enumerate() {
            let row = block * N + t;
            let live = if row < k { cols.len() } else { 0 };
            lanes.decode(layout, 0, &gather(b, row, cols.start, live));
            bad |= lanes.bad;
            for j in 0..PANEL {
                let some = lanes.nonzero[j];
                top[j] = top[j].max(if some != 0 { lanes.e[j] } else { i32::MIN });
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
                codes[0][j] = (top[j] - lanes.e[j]).min(254) as u32 & some | 255 & !some;
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
            words[word_index(j) * 2..][..2].copy_from_slice(&((top[j] << 4) as i16).to_le_bytes());
        }
        narrow::put_words(masks, &mask);
    }
    bad
}
