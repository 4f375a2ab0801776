//! Fused windows of 23 to 25 fraction bits over fp16, bf16 and tf32, as 32-bit integers; packing as in `wide`.
//!
//! The common path holds for F - 126 <= E <= 121: every result is zero or a normal fp32 below 2^128. Products and c sum
//! below 2^31: (8 * 4 + 2) * 2^25, or for N = 16 below 64 * 2^25 where A's significands sum to less than 31. Columns
//! outside, those whose k lies beyond `k_most` and those with an infinite c are computed from their words.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::gemm::ROW_BLOCK;
use crate::microkernel::avx2::wide::{
    Fix, ROWS, a_block, b_block, byte, column_terms, distances, field, k_most, loud, mutation, products,
    row_terms, tops,
};
use crate::microkernel::avx2::wide_pack::{pack_a, pack_b};
use crate::microkernel::cold;
use crate::microkernel::{Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

/// Largest E whose sums cannot reach 2^128, as an exponent field.
const HIGH: i32 = 121 + 127;

pub(crate) struct WindowWide<const N: usize, const F: i32, const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
    floor: Option<i32>,
    k_most: i32,
}

impl<const N: usize, const F: i32, const MUT: u32> WindowWide<N, F, MUT> {
    /// Least E of the common path, as an exponent field.
    const LOW: i32 = F - 126 + 127;

    /// None where the ranges above do not hold.
    pub fn new(a: Layout, b: Layout, floor: Option<i32>) -> Option<Self> {
        let fits = |l: &Layout| l.fraction_bits <= 10;
        let window = (23..=25).contains(&F) && (N <= 8 || N == 16);
        let open = floor.is_none_or(|floor| floor <= F - 126);
        let k_most = k_most(&a, &b);
        (fits(&a) && fits(&b) && window && open).then_some(WindowWide { a, b, floor, k_most })
    }
}

impl<const N: usize, const F: i32, const MUT: u32> Micro for WindowWide<N, F, MUT> {
    fn name(&self) -> &'static str {
        "avx2/fused-window-wide"
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * k.div_ceil(N) * a_block(N) / 8
    }

    fn b_len(&self, k: usize) -> usize {
        k.div_ceil(N) * b_block(N) / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA.
        unsafe { pack_a::<N, false, MUT>(&self.a, a, rows, (k, k.next_multiple_of(N)), as_bytes(out), bad) }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        // SAFETY: as above.
        unsafe { pack_b::<N, false, MUT>(&self.b, F, b, cols, (k, k.next_multiple_of(N)), as_bytes(out)) }
    }

    fn addend_ok(&self, word: u32) -> bool {
        word << 1 <= 0xFF00_0000
    }

    fn run(&self, block: Block<'_>) -> bool {
        let Block { a, b, rows, chain, c, bad, .. } = block;
        let groups = rows.div_ceil(ROWS);
        let mut done = [0u8; ROW_BLOCK / ROWS];
        for range in chain {
            for k0 in range.clone().step_by(N) {
                for g in 0..groups {
                    if done[g] == 15 {
                        continue;
                    }
                    // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA; the packed buffers hold every
                    // block of the chain's ranges, `c` and `bad` rows up to a multiple of ROWS.
                    unsafe {
                        let pb = b.as_ptr().cast::<u8>().add(k0 / N * b_block(N));
                        let pa = a.as_ptr().cast::<u8>().add((k0 / N * groups + g) * a_block(N));
                        let c = c.as_mut_ptr().add(g * ROWS * PANEL);
                        self.step(pa, pb, c, &bad[g * ROWS..][..ROWS], &mut done[g]);
                    }
                }
            }
        }
        false
    }
}

/// Of 8 columns: exponent fields of E, and k.
type Origin = (__m256i, __m256i);

impl<const N: usize, const F: i32, const MUT: u32> WindowWide<N, F, MUT> {
    /// One block step of 4 rows by 64 columns; sets bits of `done` for columns that can change no more.
    ///
    /// # Safety
    /// `a` and `b` point at blocks, `c` at 4 x 64 accumulators; AVX2 and FMA present.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn step(&self, a: *const u8, b: *const u8, c: *mut u32, bad: &[u64], done: &mut u8) {
        let (low, zero) = (_mm256_set1_epi32(Self::LOW), _mm256_setzero_si256());
        let scale_of_zero = _mm256_set1_epi32(254 + F);
        // SAFETY: the offsets stay inside the ranges named above.
        unsafe {
            let d = distances::<N>(a, b);
            let loud = loud::<N>(a);
            let any_loud = N > 8 && loud != [0; ROWS];
            for i in 0..4 {
                if *done >> i & 1 == 1 {
                    continue;
                }
                let at = 16 * i;
                let (mut k, mut s, mut scale) = ([[zero; 2]; ROWS], [[zero; 2]; ROWS], [[zero; 2]; ROWS]);
                let (mut over, mut far) = (zero, zero);
                for r in 0..ROWS {
                    // The next rows' accumulators.
                    _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add((ROWS + r) * PANEL + at).cast());
                    for half in 0..2 {
                        let addend = _mm256_loadu_si256(c.add(r * PANEL + at + 8 * half).cast());
                        let tops = tops::<N>(a, b, r, at + 8 * half);
                        let (e, shift) = self.origin(tops, byte(d[r][half], i), addend);
                        over = _mm256_max_epu32(over, _mm256_sub_epi32(e, low));
                        far = _mm256_max_epi32(far, shift);
                        let shift =
                            if MUT & mutation::CLAMP == 0 { _mm256_max_epi32(shift, zero) } else { shift };
                        k[r][half] = _mm256_slli_epi32::<23>(shift);
                        // 2^(F - E).
                        scale[r][half] = _mm256_slli_epi32::<23>(_mm256_sub_epi32(scale_of_zero, e));
                        let quanta =
                            _mm256_mul_ps(_mm256_castsi256_ps(addend), _mm256_castsi256_ps(scale[r][half]));
                        s[r][half] = if MUT & mutation::ADDEND_CUT == 0 {
                            _mm256_cvttps_epi32(quanta)
                        } else {
                            _mm256_cvtps_epi32(quanta)
                        };
                    }
                }
                let outside = _mm256_or_si256(
                    _mm256_xor_si256(over, _mm256_min_epu32(over, _mm256_set1_epi32(HIGH - Self::LOW))),
                    _mm256_cmpgt_epi32(far, _mm256_set1_epi32(self.k_most)),
                );
                let rare = any_loud || _mm256_testz_si256(outside, outside) == 0;
                let mut fix = Fix::default();
                if rare {
                    self.repair(a, b, c, i, &d, bad, &mut fix);
                    if fix.last {
                        *done |= 1 << i;
                    }
                }
                products::<N, MUT>(a, b, at, &k, &mut s);
                for r in 0..ROWS {
                    for half in 0..2 {
                        // 2^(E - F).
                        let quantum = _mm256_sub_epi32(_mm256_set1_epi32(254 << 23), scale[r][half]);
                        let out = _mm256_mul_ps(toward_zero::<MUT>(s[r][half]), _mm256_castsi256_ps(quantum));
                        _mm256_storeu_ps(c.add(r * PANEL + at + 8 * half).cast(), out);
                    }
                }
                fix.put(c.add(at));
            }
        }
    }

    /// E and k of 8 columns, E as an exponent field. c's is a lower bound of E: a zero or subnormal c gives 0, below the
    /// common path.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn origin(&self, tops: __m256i, d: __m256i, addend: __m256i) -> Origin {
        let e = _mm256_max_epi32(_mm256_sub_epi32(tops, d), field(addend));
        (e, _mm256_sub_epi32(tops, e))
    }

    /// Computes the columns of group `i` that the common path cannot take.
    ///
    /// # Safety
    /// As `step`.
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    #[allow(clippy::too_many_arguments)]
    unsafe fn repair(
        &self,
        a: *const u8,
        b: *const u8,
        c: *const u32,
        i: usize,
        d: &[[__m256i; 2]; ROWS],
        bad: &[u64],
        fix: &mut Fix,
    ) {
        fix.last = true;
        for r in 0..ROWS {
            // SAFETY: the caller's contract.
            let row = unsafe { row_terms::<N>(&self.a, a, r) };
            for half in 0..2 {
                let at = 16 * i + 8 * half;
                let (mut e, mut k) = ([0i32; 8], [0i32; 8]);
                // SAFETY: the caller's contract; the arrays hold 8 doublewords.
                let (words, loud) = unsafe {
                    let addend = _mm256_loadu_si256(c.add(r * PANEL + at).cast());
                    let origin = self.origin(tops::<N>(a, b, r, at), byte(d[r][half], i), addend);
                    _mm256_storeu_si256(e.as_mut_ptr().cast(), origin.0);
                    _mm256_storeu_si256(k.as_mut_ptr().cast(), origin.1);
                    (c.add(r * PANEL + at).cast::<[u32; 8]>().read(), N > 8 && loud::<N>(a)[r] != 0)
                };
                for l in 0..8 {
                    if bad[r] >> (at + l) & 1 == 1 {
                        continue;
                    }
                    let low = e[l] < Self::LOW && MUT & mutation::LOW == 0;
                    let high = e[l] > HIGH && MUT & mutation::OVERFLOW == 0;
                    let far = k[l] > self.k_most && MUT & mutation::FAR == 0;
                    let infinite = words[l] << 1 == 0xFF00_0000;
                    fix.last &= infinite;
                    if low || high || far || loud {
                        let word = if infinite {
                            words[l]
                        } else {
                            // SAFETY: the caller's contract.
                            let column = unsafe { column_terms(&self.b, b, at + l) };
                            cold::fused(&row.times(&column), words[l], F, self.floor)
                        };
                        fix.set(r, 8 * half + l, word);
                    }
                }
            }
        }
    }
}

/// Integers below 2^31 in magnitude as fp32, toward zero. What lies more than 24 bits below the leading bit has that
/// bit's image, shifted by 24, cleared: the half of the last place, so that conversion rounds down.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn toward_zero<const MUT: u32>(x: __m256i) -> __m256 {
    if MUT & mutation::AND_MASK != 0 {
        return _mm256_cvtepi32_ps(x);
    }
    let magnitude = _mm256_abs_epi32(x);
    let cleared = _mm256_andnot_si256(_mm256_srli_epi32::<24>(magnitude), magnitude);
    _mm256_cvtepi32_ps(_mm256_sign_epi32(cleared, x))
}
