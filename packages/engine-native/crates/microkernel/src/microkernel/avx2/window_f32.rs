//! Fused windows narrow enough for fp32 (FP8, F = 13) on the floor chain of `floor_f32`.
//!
//! E = TOP - d. S - M stays below 32 * 3.52 + 2 < 2^7 times 2^E, and M is 2^(E - F + 23) and half of it: S keeps M's exponent,
//! and their difference is exact. c enters cut by conversion to an integer.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::gemm::ROW_BLOCK;
use crate::microkernel::avx2::exact_path::{
    SEGMENT, STATS_LEN, Stats, holds, multiply, scan_columns, scan_rows,
};
use crate::microkernel::avx2::floor_chain::{Chain, products};
use crate::microkernel::avx2::floor_f32::{
    ZERO_LOW, a_block, b_block, codes_fit, column_codes, distances, least, pack_a, pack_b, row_codes,
};
use crate::microkernel::avx2::narrow::{ROWS, shifted};
use crate::microkernel::narrow::mutation::{ADDEND_FIX, ADDEND_LIMIT, AND_MASK, CLAMP, SIGN_FIX};
use crate::microkernel::narrow::{C_LEAST, TOP, addend_ok, fits};
use crate::microkernel::{Aligned, Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

const F: i32 = 13;

pub(crate) struct WindowF32<const N: usize, const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
    precision: u32,
}

impl<const N: usize, const MUT: u32> WindowF32<N, MUT> {
    /// None where the ranges above do not hold.
    pub fn new(a: Layout, b: Layout, floor: Option<i32>, precision: u32) -> Option<Self> {
        let window = N <= 32 && N.is_multiple_of(4) && precision as i32 <= F;
        let open = floor.is_none_or(|f| f <= C_LEAST);
        let small = a.fraction_bits <= 3 && b.fraction_bits <= 3;
        let codes = codes_fit(&a, &b);
        (window && open && small && codes && fits(&a) && fits(&b)).then_some(WindowF32 { a, b, precision })
    }
}

impl<const N: usize, const MUT: u32> Micro for WindowF32<N, MUT> {
    fn name(&self) -> &'static str {
        "avx2/fused-window-f32"
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * (k.div_ceil(N) * a_block(N) / 8 + k.div_ceil(SEGMENT) * STATS_LEN)
    }

    fn b_len(&self, k: usize) -> usize {
        k.div_ceil(N) * b_block(N) / 8 + k.div_ceil(SEGMENT) * STATS_LEN
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        let (groups, blocks) = (rows.len().div_ceil(ROWS), k.div_ceil(N));
        let (items, stats) = out.split_at_mut(groups * blocks * a_block(N) / 8);
        // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA.
        unsafe { pack_a::<N, MUT>(&self.a, a, rows, k, as_bytes(items), bad) }
        for (i, stats) in as_stats(stats).iter_mut().take(groups * k.div_ceil(SEGMENT)).enumerate() {
            let (first, group) = (i / groups * SEGMENT / N, i % groups);
            // SAFETY: as above; the group's blocks lie `groups` blocks apart, the first of them in `items`.
            *stats = unsafe {
                let at = items.as_ptr().cast::<u8>().add((first * groups + group) * a_block(N));
                let count = (SEGMENT / N).min(blocks - first);
                scan_rows::<N>(at, groups * a_block(N), count, row_codes(&self.a))
            };
        }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        let (items, stats) = out.split_at_mut(k.div_ceil(N) * b_block(N) / 8);
        // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA.
        let bad = unsafe { pack_b::<N, MUT>(&self.a, &self.b, b, cols, k, as_bytes(items)) };
        for (i, stats) in as_stats(stats).iter_mut().take(k.div_ceil(SEGMENT)).enumerate() {
            let terms = SEGMENT.min(k.next_multiple_of(N) - i * SEGMENT);
            // SAFETY: as above; the terms lie in `items`.
            *stats = unsafe {
                let at = items.as_ptr().cast::<u8>().add(i * SEGMENT / N * b_block(N));
                scan_columns(at, terms, column_codes(&self.b, &self.a))
            };
        }
        bad
    }

    fn addend_ok(&self, word: u32) -> bool {
        addend_ok(word) || MUT & ADDEND_LIMIT != 0 && word << 1 < 0xFF00_0000
    }

    fn run(&self, block: Block<'_>) -> bool {
        let Block { a, b, rows, k, chain, exact, c, .. } = block;
        let (groups, blocks, c) = (rows.div_ceil(ROWS), k.div_ceil(N), c.as_mut_ptr());
        // Groups that need no cut in this segment.
        let mut plain = [false; ROW_BLOCK / ROWS];
        let (mut some, mut all) = (false, true);
        for range in chain {
            let mut k0 = range.start;
            while k0 < range.end {
                let segment = k0 / SEGMENT;
                let end = range.end.min((segment + 1) * SEGMENT);
                // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA; the packed buffers hold every block of
                // the chain's ranges, behind them the stats of their segments, and `c` rows up to a multiple of ROWS.
                unsafe {
                    let a = a.as_ptr().cast::<u8>();
                    let b = b.as_ptr().cast::<u8>();
                    let c = |g: usize| c.add(g * ROWS * PANEL).cast::<f32>();
                    for g in 0..groups {
                        let rows =
                            a.add(groups * blocks * a_block(N)).cast::<Stats>().add(segment * groups + g);
                        let columns = b.add(blocks * b_block(N)).cast::<Stats>().add(segment);
                        plain[g] = exact && holds::<MUT>(&*rows, &*columns, c(g), F, self.precision);
                        (some, all) = (true, all && plain[g]);
                    }
                    for block in k0 / N..end.div_ceil(N) {
                        let pb = b.add(block * b_block(N));
                        for g in 0..groups {
                            let pa = a.add((block * groups + g) * a_block(N));
                            if plain[g] {
                                multiply::<N>(pa, pb, c(g));
                            } else {
                                self.step(pa, pb, c(g));
                            }
                        }
                    }
                }
                k0 = end;
            }
        }
        some && all
    }
}

/// Whole stats of a buffer.
fn as_stats(words: &mut [u64]) -> &mut [Stats] {
    // SAFETY: Stats is STATS_LEN words of plain numbers, aligned as u64 is.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() / STATS_LEN) }
}

impl<const N: usize, const MUT: u32> WindowF32<N, MUT> {
    /// One block step of 4 rows by 64 columns.
    ///
    /// # Safety
    /// `a` and `b` point at blocks, `c` at 4 x 64 accumulators; AVX2 and FMA present.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn step(&self, a: *const u8, b: *const u8, c: *mut f32) {
        let power = |e: i32| _mm256_set1_epi32((e + 127) << 23);
        let float = |x| _mm256_castsi256_ps(x);
        // Of E = TOP: M, the quantum and its inverse, T.
        let m_base = _mm256_or_si256(power(TOP + 23 - F), _mm256_set1_epi32(0x0040_0000));
        let (q_base, s_base) = (power(TOP - F), power(F - TOP));
        let t_base = _mm256_set1_epi8((TOP - F - least(&self.a) - least(&self.b)) as u8 as i8);
        let t_most = _mm256_set1_epi8(ZERO_LOW as i8);
        let keep = float(_mm256_set1_epi32(-1 << (23 - self.precision)));
        let byte = _mm256_set1_epi32(0xFF);
        let zero = _mm256_setzero_si256();
        let mut chain =
            Chain { s: Aligned([[[[float(zero); 4]; 2]; 2]; 2]), t: Aligned([[[zero; 2]; 2]; 2]) };
        // SAFETY: the offsets stay inside the ranges named above.
        unsafe {
            let d = distances::<N>(a, b, c);
            for r in 0..ROWS {
                for half in 0..2 {
                    let t = _mm256_subs_epu8(t_base, d[r][half]);
                    let t = if MUT & CLAMP == 0 { _mm256_min_epu8(t, t_most) } else { t };
                    chain.t.0[r / 2][half][r % 2] = _mm256_xor_si256(t, _mm256_set1_epi8(-128));
                    for i in 0..4 {
                        let shift = shifted(d[r][half], i);
                        let m = float(_mm256_sub_epi32(m_base, shift));
                        let quantum = float(_mm256_sub_epi32(q_base, shift));
                        let scale = float(_mm256_add_epi32(s_base, shift));
                        let c = _mm256_loadu_ps(c.add(r * PANEL + 16 * i + 8 * half));
                        let scaled = _mm256_mul_ps(c, scale);
                        let cut = if MUT & ADDEND_FIX == 0 {
                            _mm256_cvttps_epi32(scaled)
                        } else {
                            _mm256_cvtps_epi32(scaled)
                        };
                        chain.s.0[r / 2][half][r % 2][i] =
                            _mm256_fmadd_ps(_mm256_cvtepi32_ps(cut), quantum, m);
                    }
                }
            }
            products::<N>(a, b, &mut chain);
            for r in 0..ROWS {
                for half in 0..2 {
                    let counts = chain.t.0[r / 2][half][r % 2];
                    for i in 0..4 {
                        let m = float(_mm256_sub_epi32(m_base, shifted(d[r][half], i)));
                        let count = _mm256_srl_epi32(counts, _mm_cvtsi32_si128(8 * i as i32));
                        let count = if MUT & SIGN_FIX == 0 { _mm256_and_si256(count, byte) } else { zero };
                        let s = _mm256_castps_si256(chain.s.0[r / 2][half][r % 2][i]);
                        let exact = _mm256_sub_ps(float(_mm256_add_epi32(s, count)), m);
                        let out = if MUT & AND_MASK == 0 { _mm256_and_ps(exact, keep) } else { exact };
                        _mm256_storeu_ps(c.add(r * PANEL + 16 * i + 8 * half), out);
                    }
                }
            }
        }
    }
}
