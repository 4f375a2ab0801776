//! Packing of `wide`.

use core::ops::Range;

use crate::PANEL;
use crate::lanes::{Lanes, gather};
use crate::microkernel::avx2::wide::mutation::{LOUD, TAIL, ZERO_CODE};
use crate::microkernel::avx2::wide::{REACH, ROWS, STEP, a_block, b_block};
use crate::microkernel::narrow::{put, put_words, transpose};
use crate::pack::Layout;
use crate::words::View;

/// Largest distances of A and B, beyond every k that is used.
const CAP: (i32, i32) = (126, 128);

/// Which k a packed position holds: see `narrow::source`; PAIR takes even k, then odd ones, of 2N.
const fn source<const N: usize, const PAIR: bool>(i: usize) -> usize {
    if PAIR { i / (2 * N) * (2 * N) + i % N * 2 + i % (2 * N) / N } else { i }
}

/// Exponent of a block without nonzero terms, below every other.
const NONE: i32 = -1 << 20;

/// `value * 2^(-1 - top)` where it lies within REACH, else 0.
#[inline(always)]
fn scaled(value: f64, e: i32, top: i32) -> f64 {
    let factor = f64::from_bits(((1022 - top) as u64) << 52);
    if top - e <= REACH { value * factor } else { 0.0 }
}

/// `positions`: packed ones, a multiple of N (of 2N where PAIR), for `k` words.
#[target_feature(enable = "avx2,fma")]
pub fn pack_a<const N: usize, const PAIR: bool, const MUT: u32>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    (k, positions): (usize, usize),
    out: &mut [u8],
    bad: &mut [u64],
) {
    let groups = rows.len().div_ceil(ROWS);
    let mut lanes = Lanes::default();
    let mut top = [0i32; PANEL];
    let (mut value, mut loud) = ([0f64; PANEL], [0f64; PANEL]);
    let mut da = [0u32; PANEL];
    for local in 0..groups * ROWS {
        let (group, r) = (local / ROWS, local % ROWS);
        let real = local < rows.len();
        let zero = if real && MUT & ZERO_CODE == 0 { 255 } else { 0 };
        for k0 in (0..positions).step_by(PANEL) {
            let live = if real { k.saturating_sub(k0).min(PANEL) } else { 0 };
            let mut words = gather(a, rows.start + local, k0, live);
            if MUT & TAIL != 0 {
                words[live..].fill(0x3F80_3F80);
            }
            if PAIR {
                words = core::array::from_fn(|j| words[source::<N, PAIR>(j)]);
            }
            lanes.decode(layout, 0, &words);
            if lanes.bad != 0 {
                bad[local] = u64::MAX;
            }
            for j in 0..PANEL {
                top[j] = if lanes.nonzero[j] != 0 { lanes.e[j] } else { NONE };
                let unit = f64::from_bits(((1023 - lanes.e[j]) as u64) << 52);
                loud[j] = lanes.value[j].abs() * unit;
            }
            // Over each lane's block, by halves exchanged.
            let mut d = 1;
            while d < N {
                let (t, l) = (top, loud);
                for j in 0..PANEL {
                    top[j] = t[j].max(t[j ^ d]);
                    loud[j] = l[j] + l[j ^ d];
                }
                d *= 2;
            }
            for j in 0..PANEL {
                top[j] = if top[j] == NONE { 0 } else { top[j] };
                let d = match lanes.nonzero[j] {
                    0 => zero,
                    _ => (top[j] - lanes.e[j]).min(CAP.0),
                };
                da[j] = (d as u32).wrapping_mul(0x0101_0101);
                value[j] = scaled(lanes.value[j], lanes.e[j], top[j]);
            }
            for j in (0..PANEL.min(positions - k0)).step_by(N) {
                let at = ((k0 + j) / N * groups + group) * a_block(N);
                let block = &mut out[at..at + a_block(N)];
                for t in 0..N {
                    let at = 4 * (t * ROWS + r);
                    put::<4>(&mut block[at..at + 4], &value[j + t..=j + t]);
                    put_words(&mut block[16 * N + at..][..4], &da[j + t..=j + t]);
                    put_words(&mut block[32 * N + 32 + at..][..4], &words[j + t..=j + t]);
                }
                // N products below 2 * (sum of significands) quanta / 2^F, and c: 32 bits hold 64 of them at F = 25.
                let leaves = 2.0 * loud[j] + 2.0 >= 64.0 && MUT & LOUD == 0;
                put_words(&mut block[32 * N + 4 * r..][..4], &[top[j] as u32]);
                put_words(&mut block[32 * N + 16 + 4 * r..][..4], &[0u32.wrapping_sub(u32::from(leaves))]);
            }
        }
    }
}

/// As [`pack_a`]; returns the columns with a non-finite word.
#[target_feature(enable = "avx2,fma")]
pub fn pack_b<const N: usize, const PAIR: bool, const MUT: u32>(
    layout: &Layout,
    fraction: i32,
    b: &View<'_>,
    cols: Range<usize>,
    (k, positions): (usize, usize),
    out: &mut [u8],
) -> u64 {
    let mut lanes: [Lanes; N] = core::array::from_fn(|_| Lanes::default());
    let (mut value, mut db) = ([0f64; PANEL], [0u32; PANEL]);
    let mut bad = 0;
    for block in 0..positions / N {
        let out = &mut out[block * b_block(N)..][..b_block(N)];
        let (terms, rest) = out.split_at_mut(N * STEP);
        let (tops, raw) = rest.split_at_mut(4 * PANEL);
        let mut top = [NONE; PANEL];
        for (t, lanes) in lanes.iter_mut().enumerate() {
            let from = source::<N, PAIR>(block * N + t);
            let live = if from < k { cols.len() } else { 0 };
            let mut words = gather(b, from, cols.start, live);
            if MUT & TAIL != 0 {
                words[live..].fill(0x3F80_3F80);
            }
            lanes.decode(layout, 0, &words);
            bad |= lanes.bad;
            for j in 0..PANEL {
                top[j] = top[j].max(if lanes.nonzero[j] != 0 { lanes.e[j] } else { NONE });
            }
            put_words(&mut raw[4 * PANEL * t..][..4 * PANEL], &words);
        }
        for j in 0..PANEL {
            top[j] = if top[j] == NONE { 0 } else { top[j] };
        }
        for (lanes, out) in lanes.iter().zip(terms.chunks_exact_mut(STEP)) {
            for j in 0..PANEL {
                let zero = if j < cols.len() { 255 } else { fraction + 2 };
                let d = (top[j] - lanes.e[j] + fraction + 2).min(CAP.1);
                db[j] = if lanes.nonzero[j] != 0 { d } else { zero } as u32;
                value[j] = scaled(lanes.value[j], lanes.e[j], top[j]);
            }
            put::<4>(&mut out[..4 * PANEL], &value);
            transpose::<4>(&db, &mut out[4 * PANEL..]);
        }
        put_words(tops, &top.map(|x| (x + fraction + 2 + 127) as u32));
    }
    bad
}
