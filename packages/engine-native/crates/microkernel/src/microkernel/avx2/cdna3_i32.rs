//! CDNA3's windows in 32-bit integers: fp16, bf16 and xf32 (numerics 4.5), FP8 (4.6, two windows of 8); packing as in
//! `wide`, F = 24.
//!
//! S counts the quanta of 2^(E - 24). With the unit 2^u, u = E - 24 where e_c <= E and e_c - 32 elsewhere, both branches
//! are A = floor(S 2^(E - 24 - u)) + floor(c 2^-u) in fp64, one of the floors idle, and |A| < 2^37; A is then floored to
//! 32 significant bits, idle in the first branch. Conversion rounds to nearest even.
//!
//! The common path holds for -87 <= E <= 125 and finite c: products stay below 2^128, every nonzero result is normal.
//! Other columns, and those whose k lies beyond `k_most`, are computed from their words.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::gemm::ROW_BLOCK;
use crate::microkernel::avx2::wide::{
    Fix, K_MOST, ROWS, a_block, b_block, byte, column_terms, distances, field, k_most, mutation, products,
    row_terms, tops,
};
use crate::microkernel::avx2::wide_pack::{pack_a, pack_b};
use crate::microkernel::cold;
use crate::microkernel::narrow::fits;
use crate::microkernel::{Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

const F: i32 = 24;
/// Bounds of E in the common path, as exponent fields.
const LOW: i32 = -87 + 127;
const HIGH: i32 = 125 + 127;

/// Blocks of N; `PAIR`: even and odd k of 2N apart.
pub(crate) struct Cdna3I32<const N: usize, const PAIR: bool, const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
    k_most: i32,
    /// K of the instruction: the padding's blocks turn -0 into +0.
    k: usize,
}

type Distances = [[__m256i; 2]; ROWS];

impl<const N: usize, const PAIR: bool, const MUT: u32> Cdna3I32<N, PAIR, MUT> {
    const WINDOWS: usize = if PAIR { 2 } else { 1 };

    /// None where the ranges above do not hold. A window without products vanishes in a pair of narrow formats alone.
    pub fn new(a: Layout, b: Layout, k: usize) -> Option<Self> {
        let exact = a.fraction_bits <= 10 && b.fraction_bits <= 10 && N <= 8;
        let apart = !PAIR || fits(&a) && fits(&b);
        let whole = k.is_multiple_of(N * Self::WINDOWS);
        (exact && apart && whole).then_some(Cdna3I32 { a, b, k_most: k_most(&a, &b), k })
    }

    /// Packed positions of `k` words.
    fn positions(&self, k: usize) -> usize {
        k.next_multiple_of(self.k)
    }

    /// Of 8 columns of window `w`: its exponent fields.
    ///
    /// # Safety
    /// As [`tops`].
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn exponents(a: *const u8, b: *const u8, r: usize, at: usize, d: __m256i) -> __m256i {
        // SAFETY: the caller's contract.
        _mm256_sub_epi32(unsafe { tops::<N>(a, b, r, at) }, byte(d, at / 16))
    }

    /// One step of 4 rows by 64 columns; sets bits of `done` for columns that can change no more.
    ///
    /// # Safety
    /// `a` and `b` point at blocks, one a window, `c` at 4 x 64 accumulators; AVX2 and FMA present.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn step(&self, a: [*const u8; 2], b: [*const u8; 2], c: *mut u32, bad: &[u64], done: &mut u8) {
        let zero = _mm256_setzero_si256();
        // SAFETY: the offsets stay inside the ranges named above.
        unsafe {
            let mut d = [[[zero; 2]; ROWS]; 2];
            for w in 0..Self::WINDOWS {
                d[w] = distances::<N>(a[w], b[w]);
            }
            for i in 0..4 {
                if *done >> i & 1 == 1 {
                    continue;
                }
                let at = 16 * i;
                let mut s = [[[zero; 2]; ROWS]; 2];
                let mut far = zero;
                for w in 0..Self::WINDOWS {
                    let mut k = [[zero; 2]; ROWS];
                    for r in 0..ROWS {
                        for half in 0..2 {
                            let shift = byte(d[w][r][half], i);
                            far = _mm256_max_epi32(far, shift);
                            let shift = _mm256_min_epi32(shift, _mm256_set1_epi32(K_MOST));
                            k[r][half] = _mm256_slli_epi32::<23>(shift);
                        }
                    }
                    products::<N, MUT>(a[w], b[w], at, &k, &mut s[w]);
                }
                let mut out = [[_mm256_setzero_ps(); 2]; ROWS];
                let (mut low, mut high, mut top) = (_mm256_set1_epi32(HIGH), zero, zero);
                for r in 0..ROWS {
                    _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add((ROWS + r) * PANEL + at).cast());
                    for half in 0..2 {
                        let mut e = Self::exponents(a[0], b[0], r, at + 8 * half, d[0][r][half]);
                        let mut sum = s[0][r][half];
                        if PAIR {
                            let other = Self::exponents(a[1], b[1], r, at + 8 * half, d[1][r][half]);
                            let most = _mm256_max_epi32(e, other);
                            sum = _mm256_add_epi32(
                                merge::<MUT>(sum, _mm256_sub_epi32(most, e)),
                                merge::<MUT>(s[1][r][half], _mm256_sub_epi32(most, other)),
                            );
                            e = most;
                        }
                        let addend = _mm256_loadu_si256(c.add(r * PANEL + at + 8 * half).cast());
                        low = _mm256_min_epi32(low, e);
                        high = _mm256_max_epi32(high, e);
                        top = _mm256_max_epi32(top, field(addend));
                        out[r][half] = add::<PAIR, MUT>(sum, e, addend);
                    }
                }
                let outside = _mm256_or_si256(
                    _mm256_or_si256(
                        _mm256_cmpgt_epi32(_mm256_set1_epi32(LOW), low),
                        _mm256_cmpgt_epi32(high, _mm256_set1_epi32(HIGH)),
                    ),
                    _mm256_or_si256(
                        _mm256_cmpgt_epi32(top, _mm256_set1_epi32(254)),
                        if PAIR { zero } else { _mm256_cmpgt_epi32(far, _mm256_set1_epi32(self.k_most)) },
                    ),
                );
                let mut fix = Fix::default();
                if _mm256_testz_si256(outside, outside) == 0 {
                    self.repair(a, b, c, i, &d, bad, &mut fix);
                    if fix.last {
                        *done |= 1 << i;
                    }
                }
                for r in 0..ROWS {
                    for half in 0..2 {
                        _mm256_storeu_ps(c.add(r * PANEL + at + 8 * half).cast(), out[r][half]);
                    }
                }
                fix.put(c.add(at));
            }
        }
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
        a: [*const u8; 2],
        b: [*const u8; 2],
        c: *const u32,
        i: usize,
        d: &[Distances; 2],
        bad: &[u64],
        fix: &mut Fix,
    ) {
        fix.last = true;
        for r in 0..ROWS {
            // SAFETY: the caller's contract.
            let rows = unsafe { a.map(|a| row_terms::<N>(&self.a, a, r)) };
            for half in 0..2 {
                let at = 16 * i + 8 * half;
                let (mut e, mut k) = ([0i32; 8], [0i32; 8]);
                // SAFETY: the caller's contract; the arrays hold 8 doublewords.
                let words = unsafe {
                    let mut fields = Self::exponents(a[0], b[0], r, at, d[0][r][half]);
                    if PAIR {
                        fields = _mm256_max_epi32(fields, Self::exponents(a[1], b[1], r, at, d[1][r][half]));
                    }
                    _mm256_storeu_si256(e.as_mut_ptr().cast(), fields);
                    _mm256_storeu_si256(k.as_mut_ptr().cast(), byte(d[0][r][half], i));
                    c.add(r * PANEL + at).cast::<[u32; 8]>().read()
                };
                for l in 0..8 {
                    if bad[r] >> (at + l) & 1 == 1 {
                        continue;
                    }
                    let last = words[l] << 1 >= 0xFF00_0000;
                    fix.last &= last;
                    let low = e[l] < LOW && MUT & mutation::LOW == 0;
                    let high = e[l] > HIGH && MUT & mutation::OVERFLOW == 0;
                    let far = !PAIR && k[l] > self.k_most && MUT & mutation::FAR == 0;
                    if low || high || far || last {
                        let mut word = words[l];
                        if !last {
                            // SAFETY: the caller's contract.
                            let columns = unsafe { b.map(|b| column_terms(&self.b, b, at + l)) };
                            let products = [rows[0].times(&columns[0]), rows[1].times(&columns[1])];
                            word = cold::cdna3(&products[..Self::WINDOWS], word);
                        }
                        fix.set(r, 8 * half + l, word);
                    }
                }
            }
        }
    }
}

impl<const N: usize, const PAIR: bool, const MUT: u32> Micro for Cdna3I32<N, PAIR, MUT> {
    fn name(&self) -> &'static str {
        if PAIR { "avx2/cdna3-odd-even-i32" } else { "avx2/cdna3-window-i32" }
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * self.positions(k) / N * a_block(N) / 8
    }

    fn b_len(&self, k: usize) -> usize {
        self.positions(k) / N * b_block(N) / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA.
        unsafe { pack_a::<N, PAIR, MUT>(&self.a, a, rows, (k, self.positions(k)), as_bytes(out), bad) }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        // SAFETY: as above.
        unsafe { pack_b::<N, PAIR, MUT>(&self.b, F, b, cols, (k, self.positions(k)), as_bytes(out)) }
    }

    fn addend_ok(&self, word: u32) -> bool {
        word << 1 <= 0xFF00_0000
    }

    fn run(&self, block: Block<'_>) -> bool {
        let Block { a, b, rows, chain, c, bad, .. } = block;
        let groups = rows.div_ceil(ROWS);
        let mut done = [0u8; ROW_BLOCK / ROWS];
        for range in chain {
            for k0 in (range.start..self.positions(range.end)).step_by(N * Self::WINDOWS) {
                for g in 0..groups {
                    if done[g] == 15 {
                        continue;
                    }
                    // SAFETY: dispatch made this kernel on a machine with AVX2 and FMA; the packed buffers hold every
                    // window of the chain's ranges, `c` and `bad` rows up to a multiple of ROWS.
                    unsafe {
                        let window = |w: usize| k0 / N + w.min(Self::WINDOWS - 1);
                        let pb = [0, 1].map(|w| b.as_ptr().cast::<u8>().add(window(w) * b_block(N)));
                        let pa = [0, 1]
                            .map(|w| a.as_ptr().cast::<u8>().add((window(w) * groups + g) * a_block(N)));
                        let c = c.as_mut_ptr().add(g * ROWS * PANEL);
                        self.step(pa, pb, c, &bad[g * ROWS..][..ROWS], &mut done[g]);
                    }
                }
            }
        }
        false
    }
}

/// floor(x / 2^by).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn merge<const MUT: u32>(x: __m256i, by: __m256i) -> __m256i {
    if MUT & mutation::MERGE != 0 {
        return _mm256_sign_epi32(_mm256_srlv_epi32(_mm256_abs_epi32(x), by), x);
    }
    _mm256_srav_epi32(x, by)
}

/// `sum` quanta of 2^(E - 24) plus c, as fp32; `e` are exponent fields of E.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add<const PAIR: bool, const MUT: u32>(sum: __m256i, e: __m256i, addend: __m256i) -> __m256 {
    let int = |x: i32| _mm256_set1_epi32(x);
    let power = |field: __m256i| _mm256_castsi256_ps(_mm256_slli_epi32::<23>(field));
    let e_c = field(addend);
    let above = _mm256_cmpgt_epi32(e_c, e);
    let quantum = _mm256_sub_epi32(e, int(F));
    let unit = _mm256_blendv_epi8(quantum, _mm256_sub_epi32(e_c, int(32)), above);
    // A factor of 2^-126 and one below it floor alike.
    let gap = _mm256_max_epi32(_mm256_add_epi32(_mm256_sub_epi32(quantum, unit), int(127)), int(1));
    let mut c = _mm256_castsi256_ps(addend);
    if PAIR && MUT & mutation::ADDEND_REACH == 0 {
        let near = _mm256_cmpgt_epi32(int(26), _mm256_sub_epi32(e, e_c));
        c = _mm256_and_ps(c, _mm256_castsi256_ps(near));
    }
    let (gap, inverse, unit) = (power(gap), power(_mm256_sub_epi32(int(254), unit)), power(unit));
    let low = |x: __m256| _mm256_castps256_ps128(x);
    let high = |x: __m256| _mm256_extractf128_ps::<1>(x);
    let part = |sum: __m128i, gap: __m128, c: __m128, inverse: __m128, unit: __m128| {
        let wide = |x| _mm256_cvtps_pd(x);
        let sum = _mm256_floor_pd(_mm256_mul_pd(_mm256_cvtepi32_pd(sum), wide(gap)));
        let c = _mm256_mul_pd(wide(c), wide(inverse));
        let c = if MUT & mutation::ADDEND_FLOOR == 0 {
            _mm256_floor_pd(c)
        } else {
            _mm256_round_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(c)
        };
        let total = _mm256_castpd_si256(_mm256_add_pd(sum, c));
        let rest = _mm256_set1_epi64x((1 << 21) - 1);
        let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), total);
        let floored = _mm256_andnot_si256(rest, _mm256_add_epi64(total, _mm256_and_si256(negative, rest)));
        let total = if MUT & mutation::NORMAL == 0 { floored } else { total };
        _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_castsi256_pd(total), wide(unit)))
    };
    let lower = part(_mm256_castsi256_si128(sum), low(gap), low(c), low(inverse), low(unit));
    let upper = part(_mm256_extracti128_si256::<1>(sum), high(gap), high(c), high(inverse), high(unit));
    _mm256_set_m128(upper, lower)
}
