//! Fused windows narrow enough for fp32 (FP8, F = 13) without rounding modes.
//!
//! With h = (1/2 - 2^-9) of a quantum, adding x - h (x >= 0) to a multiple of the quantum rounds to nearest as cutting x
//! does: a product of FP8 has 8 bits, so its part below the quantum is at most 1 - 2^-7 of it where it is at least one
//! quantum, and below 1/2 otherwise when bits lie below 2^-9. |a|b - h with b's sign is exact at that size (15 integer
//! bits and 9 more), the sum gets a's sign. S starts at M = 1.5 * 2^(E - F + 23) plus c cut by conversion to an integer.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::microkernel::avx2::narrow::{ROWS, V, distances, pack_a, pack_b, shifted};
use crate::microkernel::narrow::mutation::SIGNS_APART;
use crate::microkernel::narrow::{C_LEAST, TOP, a_block, a_parts, addend_ok, b_block, fits, step};
use crate::microkernel::{Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

/// Faults that tests plant: bits of `MUT`.
pub(crate) mod mutation {
    pub const BIAS: u32 = 1;
    pub const SIGN: u32 = 2;
    pub const ADDEND_CUT: u32 = 4;
    pub const AND_MASK: u32 = 8;
}

pub(crate) struct WindowF32<const N: usize, const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
    fraction: i32,
    precision: u32,
}

impl<const N: usize, const MUT: u32> WindowF32<N, MUT> {
    /// None where the ranges above do not hold.
    pub fn new(a: Layout, b: Layout, fraction: i32, floor: Option<i32>, precision: u32) -> Option<Self> {
        let window = fraction == 13 && N <= 32 && precision as i32 <= fraction;
        let open = floor.is_none_or(|f| f <= C_LEAST);
        let small = a.fraction_bits <= 3 && b.fraction_bits <= 3;
        (window && open && small && fits(&a) && fits(&b)).then_some(WindowF32 { a, b, fraction, precision })
    }
}

impl<const N: usize, const MUT: u32> Micro for WindowF32<N, MUT> {
    fn name(&self) -> &'static str {
        "avx2/fused-window-f32"
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * k.div_ceil(N) * a_block(V, ROWS, N) / 8
    }

    fn b_len(&self, k: usize) -> usize {
        k.div_ceil(N) * b_block(V, N) / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA.
        unsafe { pack_a::<N, false, SIGNS_APART>(&self.a, a, rows, k, as_bytes(out), bad) }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        // SAFETY: as above.
        unsafe { pack_b::<N, false>(&self.a, &self.b, b, cols, k, as_bytes(out)) }
    }

    fn addend_ok(&self, word: u32) -> bool {
        addend_ok(word)
    }

    fn run(&self, block: Block<'_>) -> bool {
        let Block { a, b, rows, chain, c, .. } = block;
        let groups = rows.div_ceil(ROWS);
        for range in chain {
            for k0 in range.clone().step_by(N) {
                for g in 0..groups {
                    // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA; the packed buffers hold every
                    // block of the chain's ranges, `c` rows up to a multiple of ROWS.
                    unsafe {
                        let pb = b.as_ptr().cast::<u8>().add(k0 / N * b_block(V, N));
                        let pa = a.as_ptr().cast::<u8>().add((k0 / N * groups + g) * a_block(V, ROWS, N));
                        let c = c.as_mut_ptr().add(g * ROWS * PANEL).cast();
                        step_rows::<N, MUT>(pa, pb, c, self.fraction, self.precision);
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
unsafe fn step_rows<const N: usize, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    c: *mut f32,
    fraction: i32,
    precision: u32,
) {
    let [sign_at, _, _] = a_parts(V, ROWS, N);
    let power = |e: i32| _mm256_set1_epi32((e + 127) << 23);
    // Of E = TOP: M, h, the quantum and its inverse.
    let m_base = _mm256_or_si256(power(TOP + 23 - fraction), _mm256_set1_epi32(0x0040_0000));
    let h_base = _mm256_or_si256(power(TOP - fraction - 2), _mm256_set1_epi32(0x007F_0000));
    let q_base = power(TOP - fraction);
    let s_base = power(fraction - TOP);
    let keep = _mm256_castsi256_ps(_mm256_set1_epi32(-1 << (23 - precision)));
    let sign = _mm256_set1_ps(-0.0);
    // SAFETY: the offsets stay inside the ranges named above.
    unsafe {
        let d = distances::<N>(a, b, c);
        for i in 0..4 {
            let at = 16 * i;
            let mut s = [[_mm256_setzero_ps(); 2]; ROWS];
            let mut h = s;
            for r in 0..ROWS {
                for half in 0..2 {
                    let shift = shifted(d[r][half], i);
                    let float = |x| _mm256_castsi256_ps(x);
                    let m = float(_mm256_sub_epi32(m_base, shift));
                    h[r][half] = float(_mm256_sub_epi32(h_base, shift));
                    if MUT & mutation::BIAS != 0 {
                        h[r][half] = _mm256_setzero_ps();
                    }
                    let quantum = float(_mm256_sub_epi32(q_base, shift));
                    let scale = float(_mm256_add_epi32(s_base, shift));
                    let scaled = _mm256_mul_ps(_mm256_loadu_ps(c.add(r * PANEL + at + 8 * half)), scale);
                    let cut = if MUT & mutation::ADDEND_CUT == 0 {
                        _mm256_cvttps_epi32(scaled)
                    } else {
                        _mm256_cvtps_epi32(scaled)
                    };
                    s[r][half] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(cut), quantum, m);
                }
            }
            for t in 0..N {
                let v: [__m256; 2] = core::array::from_fn(|half| {
                    _mm256_loadu_ps(b.add(t * step(V)).cast::<f32>().add(at + 8 * half))
                });
                let negative = v.map(|v| _mm256_and_ps(v, sign));
                for r in 0..ROWS {
                    let item = a.add((r * N + t) * 4);
                    let magnitude = _mm256_broadcast_ss(&*item.cast());
                    let unit = _mm256_broadcast_ss(&*item.add(sign_at).cast());
                    for half in 0..2 {
                        let h = if MUT & mutation::SIGN == 0 {
                            _mm256_xor_ps(negative[half], h[r][half])
                        } else {
                            h[r][half]
                        };
                        let biased = _mm256_fmsub_ps(magnitude, v[half], h);
                        s[r][half] = _mm256_fmadd_ps(unit, biased, s[r][half]);
                    }
                }
            }
            for r in 0..ROWS {
                for half in 0..2 {
                    let m = _mm256_castsi256_ps(_mm256_sub_epi32(m_base, shifted(d[r][half], i)));
                    let exact = _mm256_sub_ps(s[r][half], m);
                    let out = if MUT & mutation::AND_MASK == 0 { _mm256_and_ps(exact, keep) } else { exact };
                    _mm256_storeu_ps(c.add(r * PANEL + at + 8 * half), out);
                }
            }
        }
    }
}
