//! Fused windows narrow enough for fp32 (FP8, F = 13), as a floor chain.
//!
//! S starts at M = 1.5 * 2^(E - F + 23), so one unit in S's last place is the quantum 2^(E-F), and
//! S = fma_RD(a, b, S) adds floor(a*b) to that quantum: |sum| < (N * 4 + 2) * 2^E <= 2^(E+8) < M / 3 keeps S in M's
//! binade. A negative product that is no multiple of the quantum was cut one unit too low; such products are counted
//! and the counts added to S's bits. R = S - M is exact; clearing low bits cuts it to p fraction bits.
//!
//! Byte codes and packing: `narrow`; behind them lie the magnitudes that `exact_path` decides by.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::gemm::ROW_BLOCK;
use crate::microkernel::avx512::exact_path::{
    self, SEGMENT, STATS_LEN, Stats, holds, multiply, mutation::STALE, scan_columns, scan_rows,
};
use crate::microkernel::avx512::{ahead, count_masked};
use crate::microkernel::narrow::mutation::{ADDEND_FIX, ADDEND_LIMIT, AND_MASK, CLAMP, SIGN_FIX};
use crate::microkernel::narrow::{self, C_LEAST, TOP, a_block, a_parts, b_block, fits, step};
use crate::microkernel::{Aligned, Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
/// Rows of one register tile.
const ROWS: usize = 4;
/// Bytes of a value.
const V: usize = 4;
const STEP: usize = step(V);

/// `N` terms a block.
pub(crate) struct WindowF32<const N: usize, const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
    fraction: i32,
    precision: u32,
}

impl<const N: usize, const MUT: u32> WindowF32<N, MUT> {
    /// None where the ranges above do not hold.
    pub fn new(a: Layout, b: Layout, fraction: i32, floor: Option<i32>, precision: u32) -> Option<Self> {
        // Sum below a third of M (F + 2 + log2(N + 1) + 1 < 23); no accepted or resulting c lies below C_LEAST.
        let window = fraction == 13 && N <= 32 && precision as i32 <= fraction;
        let open = floor.is_none_or(|f| f <= C_LEAST);
        let small = a.bits() <= 8 && b.bits() <= 8;
        (window && open && small && fits(&a) && fits(&b)).then_some(WindowF32 { a, b, fraction, precision })
    }
}

impl<const N: usize, const MUT: u32> Micro for WindowF32<N, MUT> {
    fn name(&self) -> &'static str {
        "avx512/fused-window-f32"
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * (k.div_ceil(N) * a_block(V, ROWS, N) / 8 + k.div_ceil(SEGMENT) * STATS_LEN)
    }

    fn b_len(&self, k: usize) -> usize {
        k.div_ceil(N) * b_block(V, N) / 8 + k.div_ceil(SEGMENT) * STATS_LEN
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        let groups = rows.len().div_ceil(ROWS);
        let blocks = k.div_ceil(N);
        let (items, stats) = out.split_at_mut(groups * blocks * a_block(V, ROWS, N) / 8);
        // SAFETY: dispatch made this kernel on a machine with AVX-512.
        unsafe { pack_a::<N, MUT>(&self.a, a, rows, k, as_bytes(items), bad) }
        let Some(shift) = exact_path::shift(&self.a) else { return };
        for (i, stats) in stats.chunks_exact_mut(STATS_LEN).enumerate() {
            let (segment, group) = (i / groups, i % groups);
            let first = segment * SEGMENT / N;
            let count = (SEGMENT / N).min(blocks - first);
            // SAFETY: the group's blocks lie `groups` blocks apart, the first of them in `items`; STATS_LEN words hold
            // a Stats, plain numbers.
            unsafe {
                let at = items.as_ptr().cast::<u8>().add((first * groups + group) * a_block(V, ROWS, N));
                let stride = groups * a_block(V, ROWS, N);
                let found = scan_rows::<N>(at, stride, count, shift, self.a.emin());
                stats.as_mut_ptr().cast::<Stats>().write(found);
            }
        }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        let blocks = k.div_ceil(N);
        let (items, stats) = out.split_at_mut(blocks * b_block(V, N) / 8);
        // SAFETY: as above.
        let bad = unsafe { pack_b::<N, MUT>(&self.a, &self.b, b, cols, k, as_bytes(items)) };
        let Some(shift) = exact_path::shift(&self.b) else { return bad };
        for (segment, stats) in stats.chunks_exact_mut(STATS_LEN).take(k.div_ceil(SEGMENT)).enumerate() {
            let first = segment * SEGMENT / N;
            let count = (SEGMENT / N).min(blocks - first);
            // SAFETY: as above.
            unsafe {
                let at = items.as_ptr().cast::<u8>().add(first * b_block(V, N));
                let found = scan_columns::<N>(at, b_block(V, N), count, shift, self.b.emin());
                stats.as_mut_ptr().cast::<Stats>().write(found);
            }
        }
        bad
    }

    fn addend_ok(&self, word: u32) -> bool {
        narrow::addend_ok(word) || MUT & ADDEND_LIMIT != 0
    }

    fn run(&self, block: Block<'_>) -> bool {
        let exact =
            block.exact && exact_path::shift(&self.a).is_some() && exact_path::shift(&self.b).is_some();
        // SAFETY: dispatch made this kernel on a machine with AVX-512; Kernel::tile's buffers have the lengths that
        // `a_len` and `b_len` name, with chain ranges inside the packed K.
        unsafe { run(self, block, exact) }
    }
}

/// True if every segment of every group took the exact path.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
unsafe fn run<const N: usize, const MUT: u32>(w: &WindowF32<N, MUT>, block: Block<'_>, exact: bool) -> bool {
    let Block { a, b, rows, k, chain, c, .. } = block;
    let (groups, blocks) = (rows.div_ceil(ROWS), k.div_ceil(N));
    let mut distance = Aligned([0u8; ROW_BLOCK * PANEL]);
    let constants = Constants::new(w.fraction, w.a.emax() + w.b.emax(), w.precision);
    // Groups whose distances are not c's, and that take the exact path in this segment.
    let (mut stale, mut plain) = ([true; ROW_BLOCK / ROWS], [false; ROW_BLOCK / ROWS]);
    let (mut some, mut all) = (false, true);
    // SAFETY: chain ranges end inside the packed K (Kernel::check), behind which the stats of its segments lie; rows
    // are padded to ROWS in `a`, and ROW_BLOCK rows exist in `c`.
    unsafe {
        let a_stats = a.as_ptr().cast::<u8>().add(groups * blocks * a_block(V, ROWS, N)).cast::<Stats>();
        let b_stats = b.as_ptr().cast::<u8>().add(blocks * b_block(V, N)).cast::<Stats>();
        for range in chain {
            let mut k0 = range.start;
            while k0 < range.end {
                let segment = k0 / SEGMENT;
                let end = range.end.min((segment + 1) * SEGMENT);
                for g in 0..groups {
                    let at = g * ROWS * PANEL;
                    let c = c.as_mut_ptr().add(at).cast::<f32>();
                    plain[g] = exact && {
                        let (a, b) = (&*a_stats.add(segment * groups + g), &*b_stats.add(segment));
                        holds::<MUT>(a, b, c, w.fraction, w.precision)
                    };
                    (some, all) = (true, all && plain[g]);
                    if !plain[g] && stale[g] {
                        for r in 0..ROWS {
                            let d = distance.0.as_mut_ptr().add(at + r * PANEL);
                            distances(c.add(r * PANEL), d);
                        }
                    }
                    stale[g] = plain[g] && MUT & STALE == 0;
                }
                for k in (k0..end).step_by(N) {
                    let pb = b.as_ptr().cast::<u8>().add(k / N * b_block(V, N));
                    for g in 0..groups {
                        let pa = a.as_ptr().cast::<u8>().add((k / N * groups + g) * a_block(V, ROWS, N));
                        let at = g * ROWS * PANEL;
                        let c = c.as_mut_ptr().add(at).cast();
                        let ahead = ahead(pb, b_block(V, N), g * N * 64, pa);
                        if plain[g] {
                            multiply::<N>(pa, pb, c, pa.wrapping_add(a_block(V, ROWS, N)), ahead);
                        } else {
                            let d = distance.0.as_mut_ptr().add(at);
                            step_rows::<N, MUT>(pa, pb, c, d, &constants, ahead);
                        }
                    }
                }
                k0 = end;
            }
        }
    }
    some && all
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn pack_a<const N: usize, const MUT: u32>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    narrow::pack_a::<V, ROWS, N, false, MUT>(layout, a, rows, k, out, bad);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn pack_b<const N: usize, const MUT: u32>(
    layout_a: &Layout,
    layout: &Layout,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    out: &mut [u8],
) -> u64 {
    narrow::pack_b::<V, N, false, MUT>(layout_a, layout, 0, b, cols, k, out)
}

struct Constants {
    /// M's biased exponent is this minus d.
    m_base: i8,
    /// T + 1 = d - t_base, saturated at 0.
    t_base: i8,
    keep: i32,
}

impl Constants {
    fn new(fraction: i32, low: i32, precision: u32) -> Self {
        Constants {
            m_base: (127 + TOP + 23 - fraction) as u8 as i8,
            t_base: (TOP - 1 - fraction - low) as i8,
            keep: -1 << (23 - precision),
        }
    }
}

/// Distance bytes of 64 accumulators, byte 4j + i that of column 16i + j; 227 for zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
unsafe fn distances(c: *const f32, out: *mut u8) {
    // SAFETY: the caller's pointers cover 64 fp32 and 64 bytes.
    unsafe {
        let r = core::array::from_fn(|i| _mm512_loadu_ps(c.add(16 * i)));
        _mm512_storeu_si512(out.cast(), pack_distances(r));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
fn pack_distances(r: [__m512; 4]) -> __m512i {
    let [x0, x1, x2, x3] = r.map(|x| _mm512_castps_si512(x));
    let b0 = _mm512_srli_epi32::<23>(x0);
    let b1 = _mm512_srli_epi32::<15>(x1);
    let b2 = _mm512_srli_epi32::<7>(x2);
    let b3 = _mm512_slli_epi32::<1>(x3);
    // Select by mask: (mask & y) | (!mask & x).
    let x = _mm512_ternarylogic_epi32::<0xD8>(b0, b1, _mm512_set1_epi32(0xFF00));
    let x = _mm512_ternarylogic_epi32::<0xD8>(x, b2, _mm512_set1_epi32(0x00FF_0000));
    let x = _mm512_ternarylogic_epi32::<0xD8>(x, b3, _mm512_set1_epi32(0xFF00_0000_u32 as i32));
    _mm512_sub_epi8(_mm512_set1_epi8((127 + TOP) as u8 as i8), x)
}

/// One block step of 4 rows by 64 columns.
///
/// # Safety
/// `a` and `b` point at blocks, `c` and `distance` 4 x 64 elements; AVX-512 present.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
unsafe fn step_rows<const N: usize, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    c: *mut f32,
    distance: *mut u8,
    constants: &Constants,
    ahead: *const u8,
) {
    // SAFETY: all offsets below stay inside the ranges named above.
    unsafe {
        let [la_at, da_at, offset_at] = a_parts(V, ROWS, N);
        let mut d: [__m512i; ROWS] =
            core::array::from_fn(|r| _mm512_loadu_si512(distance.add(r * PANEL).cast()));
        for t in 0..N {
            let db = _mm512_loadu_si512(b.add(t * STEP + V * PANEL).cast());
            for r in 0..ROWS {
                let da = _mm512_set1_epi32(a.add(da_at + (r * N + t) * 4).cast::<i32>().read());
                d[r] = _mm512_min_epu8(d[r], _mm512_add_epi8(da, db));
            }
        }
        let m_base = _mm512_set1_epi8(constants.m_base);
        let field = _mm512_set1_epi32(0x7F80_0000);
        let half = _mm512_set1_epi32(0x0040_0000);
        let mut s = [[_mm512_setzero_ps(); 4]; ROWS];
        for r in 0..ROWS {
            let c: [__m512; 4] = core::array::from_fn(|i| _mm512_loadu_ps(c.add(r * PANEL + 16 * i)));
            let m = start(_mm512_sub_epi8(m_base, d[r]), field, half);
            for i in 0..4 {
                let sum = _mm512_add_round_ps::<DOWN>(m[i], c[i]);
                let negative = _mm512_movepi32_mask(_mm512_castps_si512(c[i]));
                s[r][i] = if MUT & ADDEND_FIX == 0 {
                    _mm512_mask_add_round_ps::<UP>(sum, negative, m[i], c[i])
                } else {
                    sum
                };
            }
        }
        let t_base = _mm512_set1_epi8(constants.t_base);
        let threshold: [__m512i; ROWS] = core::array::from_fn(|r| {
            if MUT & CLAMP == 0 { _mm512_subs_epu8(d[r], t_base) } else { _mm512_sub_epi8(d[r], t_base) }
        });
        let mut count = [_mm512_setzero_si512(); ROWS];
        let ones = _mm512_set1_epi8(1);
        for t in 0..N {
            let v: [__m512; 4] =
                core::array::from_fn(|i| _mm512_loadu_ps(b.add(t * STEP).cast::<f32>().add(16 * i)));
            // The next group's block of A, 64 bytes a k, and some of the next block of B.
            _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(a_block(V, ROWS, N) + t * 64).cast());
            _mm_prefetch::<_MM_HINT_T1>(ahead.wrapping_add(t * 64).cast());
            for r in 0..ROWS {
                let at = (r * N + t) * 4;
                let value = _mm512_set1_ps(a.add(at).cast::<f32>().read());
                let la = _mm512_set1_epi32(a.add(la_at + at).cast::<i32>().read());
                let codes = b.add(a.add(offset_at + at).cast::<u32>().read() as usize);
                for i in 0..4 {
                    s[r][i] = _mm512_fmadd_round_ps::<DOWN>(value, v[i], s[r][i]);
                }
                let limit = _mm512_subs_epu8(threshold[r], la);
                let inexact = _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(codes.cast()), limit);
                if MUT & SIGN_FIX == 0 {
                    count[r] = count_masked(count[r], inexact, ones);
                }
            }
        }
        let keep = _mm512_set1_epi32(constants.keep);
        for r in 0..ROWS {
            let m = start(_mm512_sub_epi8(m_base, d[r]), field, half);
            let mut out = [_mm512_setzero_ps(); 4];
            for i in 0..4 {
                let one_hot = _mm512_set1_epi32(1 << (8 * i));
                let bits = _mm512_dpbusd_epi32(_mm512_castps_si512(s[r][i]), count[r], one_hot);
                let exact = _mm512_sub_ps(_mm512_castsi512_ps(bits), m[i]);
                out[i] = if MUT & AND_MASK == 0 {
                    _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(exact), keep))
                } else {
                    exact
                };
                _mm512_storeu_ps(c.add(r * PANEL + 16 * i), out[i]);
            }
            _mm512_storeu_si512(distance.add(r * PANEL).cast(), pack_distances(out));
        }
    }
}

/// M of 64 columns from the bytes of its biased exponents.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
fn start(bytes: __m512i, field: __m512i, half: __m512i) -> [__m512; 4] {
    // (x & field) | half
    let shape = |x| _mm512_castsi512_ps(_mm512_ternarylogic_epi32::<0xF8>(half, x, field));
    [
        shape(_mm512_slli_epi32::<23>(bytes)),
        shape(_mm512_slli_epi32::<15>(bytes)),
        shape(_mm512_slli_epi32::<7>(bytes)),
        shape(_mm512_srli_epi32::<1>(bytes)),
    ]
}
