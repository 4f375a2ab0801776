//! Fused windows of 23 to 25 fraction bits over FP8 and narrower, and FP8 in two halves, as 32-bit integers.
//!
//! A product of at most 22 bits is exact in fp32, so is its multiple by 2^(F-E) (or both are below 1), and conversion cuts
//! it toward zero to a number of quanta. Half a block with c sums below 2^31: (N/2 * 4 + 2) * 2^25 for N <= 16, and
//! (16 * 3.52 + 2) * 2^25 for FP8's N = 32. Both halves meet in fp64, exactly; clearing bits rounds toward zero.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::microkernel::avx2::narrow::{ROWS, V, distances, pack_a, pack_b, shifted};
use crate::microkernel::narrow::{C_LEAST, TOP, a_block, addend_ok, b_block, fits, packed_k, step};
use crate::microkernel::{Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

/// Faults that tests plant: bits of `MUT`.
pub(crate) mod mutation {
    pub const ONE_SUM: u32 = 1;
    pub const CUT: u32 = 2;
    pub const AND_MASK: u32 = 4;
    pub const ADDEND_CUT: u32 = 8;
}

/// `SPLIT`: two windows of N from +0, then c by one IEEE addition (numerics section 7).
pub(crate) struct WindowI32<const N: usize, const F: i32, const SPLIT: bool, const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
}

impl<const N: usize, const F: i32, const SPLIT: bool, const MUT: u32> WindowI32<N, F, SPLIT, MUT> {
    /// None where the ranges above do not hold.
    pub fn new(a: Layout, b: Layout, floor: Option<i32>) -> Option<Self> {
        let exact = a.fraction_bits + b.fraction_bits + 2 <= 24;
        let room = N <= 16 || N == 32 && a.fraction_bits <= 3 && b.fraction_bits <= 3;
        let open = floor.is_none_or(|f| f <= C_LEAST);
        (exact && room && open && (23..=25).contains(&F) && fits(&a) && fits(&b))
            .then_some(WindowI32 { a, b })
    }
}

impl<const N: usize, const F: i32, const SPLIT: bool, const MUT: u32> Micro for WindowI32<N, F, SPLIT, MUT> {
    fn name(&self) -> &'static str {
        if SPLIT { "avx2/split-window-i32" } else { "avx2/fused-window-i32" }
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * packed_k::<N, SPLIT>(k) / N * a_block(V, ROWS, N) / 8
    }

    fn b_len(&self, k: usize) -> usize {
        packed_k::<N, SPLIT>(k) / N * b_block(V, N) / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA.
        unsafe { pack_a::<N, SPLIT>(&self.a, a, rows, k, as_bytes(out), bad) }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        // SAFETY: as above.
        unsafe { pack_b::<N, SPLIT>(&self.a, &self.b, b, cols, k, as_bytes(out)) }
    }

    fn addend_ok(&self, word: u32) -> bool {
        if SPLIT { word << 1 <= 0xFF00_0000 } else { addend_ok(word) }
    }

    fn run(&self, block: Block<'_>) -> bool {
        let Block { a, b, rows, chain, c, .. } = block;
        let groups = rows.div_ceil(ROWS);
        let halves = if SPLIT { 2 } else { 1 };
        let mut sums = [0f32; ROWS * PANEL];
        for range in chain {
            for k0 in range.clone().step_by(N * halves) {
                for g in 0..groups {
                    // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA; the packed buffers hold every
                    // block of the chain's ranges, `c` rows up to a multiple of ROWS.
                    unsafe {
                        let c: *mut f32 = c.as_mut_ptr().add(g * ROWS * PANEL).cast();
                        if SPLIT {
                            sums.fill(0.0);
                        }
                        for half in 0..halves {
                            let block = k0 / N + half;
                            let pb = b.as_ptr().cast::<u8>().add(block * b_block(V, N));
                            let pa = a.as_ptr().cast::<u8>().add((block * groups + g) * a_block(V, ROWS, N));
                            step_rows::<N, F, MUT>(pa, pb, if SPLIT { sums.as_mut_ptr() } else { c });
                        }
                        if SPLIT {
                            for (i, x) in sums.iter().enumerate() {
                                *c.add(i) += x;
                            }
                        }
                    }
                }
            }
        }
        false
    }
}

/// One block step of 4 rows by 64 columns.
///
/// # Safety
/// `a` and `b` point at blocks, `c` at 4 x 64 accumulators; AVX2 and FMA present.
#[target_feature(enable = "avx2,fma")]
unsafe fn step_rows<const N: usize, const F: i32, const MUT: u32>(a: *const u8, b: *const u8, c: *mut f32) {
    let power = |e: i32| _mm256_set1_epi32((e + 127) << 23);
    let (q_base, s_base) = (power(TOP - F), power(F - TOP));
    // SAFETY: the offsets stay inside the ranges named above.
    unsafe {
        let d = distances::<N>(a, b, c);
        for i in 0..4 {
            let at = 16 * i;
            let scale: [[__m256; 2]; ROWS] = core::array::from_fn(|r| {
                core::array::from_fn(|half| {
                    _mm256_castsi256_ps(_mm256_add_epi32(s_base, shifted(d[r][half], i)))
                })
            });
            let mut sum = [[[_mm256_setzero_si256(); 2]; ROWS]; 2];
            for r in 0..ROWS {
                for half in 0..2 {
                    let c = _mm256_loadu_ps(c.add(r * PANEL + at + 8 * half));
                    sum[0][r][half] = cut::<{ mutation::ADDEND_CUT }, MUT>(_mm256_mul_ps(c, scale[r][half]));
                }
            }
            for part in 0..2 {
                let into = if MUT & mutation::ONE_SUM == 0 { part } else { 0 };
                let mut s = sum[into];
                for t in N / 2 * part..N / 2 * (part + 1) {
                    let v: [__m256; 2] = core::array::from_fn(|half| {
                        _mm256_loadu_ps(b.add(t * step(V)).cast::<f32>().add(at + 8 * half))
                    });
                    for r in 0..ROWS {
                        let x = _mm256_broadcast_ss(&*a.add((r * N + t) * 4).cast());
                        for half in 0..2 {
                            let quanta = _mm256_mul_ps(_mm256_mul_ps(x, v[half]), scale[r][half]);
                            s[r][half] = _mm256_add_epi32(s[r][half], cut::<{ mutation::CUT }, MUT>(quanta));
                        }
                    }
                }
                sum[into] = s;
            }
            for r in 0..ROWS {
                for half in 0..2 {
                    let quantum = _mm256_castsi256_ps(_mm256_sub_epi32(q_base, shifted(d[r][half], i)));
                    let out = join::<MUT>(sum[0][r][half], sum[1][r][half]);
                    _mm256_storeu_ps(c.add(r * PANEL + at + 8 * half), _mm256_mul_ps(out, quantum));
                }
            }
        }
    }
}

/// Toward zero, to integers; to nearest where the fault `WHICH` is planted.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn cut<const WHICH: u32, const MUT: u32>(x: __m256) -> __m256i {
    if MUT & WHICH == 0 { _mm256_cvttps_epi32(x) } else { _mm256_cvtps_epi32(x) }
}

/// x + y as fp32, toward zero.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn join<const MUT: u32>(x: __m256i, y: __m256i) -> __m256 {
    let keep = _mm256_castsi256_pd(_mm256_set1_epi64x(-1 << 29));
    let part = |x: __m128i, y: __m128i| {
        let sum = _mm256_add_pd(_mm256_cvtepi32_pd(x), _mm256_cvtepi32_pd(y));
        _mm256_cvtpd_ps(if MUT & mutation::AND_MASK == 0 { _mm256_and_pd(sum, keep) } else { sum })
    };
    let low = part(_mm256_castsi256_si128(x), _mm256_castsi256_si128(y));
    let high = part(_mm256_extracti128_si256::<1>(x), _mm256_extracti128_si256::<1>(y));
    _mm256_set_m128(high, low)
}
