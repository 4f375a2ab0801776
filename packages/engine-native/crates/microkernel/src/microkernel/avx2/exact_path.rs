//! `window_f32` where nothing needs a cut: plain fused multiply-adds.
//!
//! Decided for 4 rows by 64 columns and a segment of K. Let a's factors be multiples of 2^la, b's of 2^lb, c of 2^G with
//! G = la + lb, and |c| + sum |ab| < 2^(G + p + 1) for every element. Then c and each sum of it and products is a multiple of
//! 2^G of at most p + 1 bits, p <= F < 23: fp32's multiply-adds are exact, and so is a d of p fraction bits. With
//! e_a + e_b <= G + F for the largest encoded exponents (e_c <= G + p follows), no E exceeds G + F: the quantum 2^(E - F)
//! divides every term and no alignment cuts. A c of -0 is made +0; an exact zero is +0 from then on, as the window's.
//!
//! sum |ab| is at most min(max |a| sum |b|, sum |a| max |b|). The sums of magnitudes are fp32: a multiple of 2^la below
//! 2^(la + 24) has not been rounded, and one that was rounded is larger than what passes.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::avx2::floor_f32::{A_STEP, B_STEP, ZERO_LOW};
use crate::microkernel::avx2::narrow::ROWS;

/// K that one decision covers.
pub const SEGMENT: usize = 256;
/// u64 words of a [`Stats`].
pub const STATS_LEN: usize = 2;

/// Faults that tests plant, besides those of `narrow`.
pub mod mutation {
    pub const SUM: u32 = 1 << 8;
    pub const TOP: u32 = 1 << 9;
    pub const MULTIPLE: u32 = 1 << 10;
    pub const PLUS_ZERO: u32 = 1 << 11;
    pub const ADDEND: u32 = 1 << 12;
}

/// Magnitudes of one segment of a group of rows, or of a panel's columns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Stats {
    max: f32,
    /// Largest sum of a row's, or a column's, magnitudes.
    sum: f32,
    /// All are multiples of 2^low; beyond every exponent where all are zero.
    low: i32,
    /// Largest encoded exponent.
    top: i32,
}

/// What the bytes of a packed operand mean: low = code + `least`, e = `nearest` - distance.
#[derive(Clone, Copy)]
pub struct Codes {
    pub least: i32,
    pub nearest: i32,
}

/// Stats of vectors of values and of their bytes, the sums apart for each lane and for each of W vectors.
struct Scan<const W: usize> {
    max: __m256,
    sums: [__m256; W],
    low: __m256i,
    near: __m256i,
}

impl<const W: usize> Scan<W> {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn new() -> Self {
        let (zero, most) = (_mm256_setzero_ps(), _mm256_set1_epi8(-1));
        Scan { max: zero, sums: [zero; W], low: most, near: most }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn values(&mut self, i: usize, x: __m256) {
        let x = _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
        self.max = _mm256_max_ps(self.max, x);
        self.sums[i] = _mm256_add_ps(self.sums[i], x);
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn bytes(&mut self, codes: __m256i, distances: __m256i) {
        self.low = _mm256_min_epu8(self.low, _mm256_and_si256(codes, _mm256_set1_epi8(0x7F)));
        self.near = _mm256_min_epu8(self.near, distances);
    }

    #[target_feature(enable = "avx2,fma")]
    fn stats(&self, codes: Codes) -> Stats {
        let largest = |x: __m256| {
            let mut lanes = [0f32; 8];
            // SAFETY: the array holds 8 fp32.
            unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), x) };
            lanes.iter().fold(0f32, |most, x| most.max(*x))
        };
        let least = |x: __m256i| {
            let mut lanes = [0u8; 32];
            // SAFETY: the array holds 32 bytes.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), x) };
            lanes.iter().fold(255, |least, x| least.min(i32::from(*x)))
        };
        let low = least(self.low);
        Stats {
            max: largest(self.max),
            sum: self.sums.iter().fold(0f32, |most, x| most.max(largest(*x))),
            low: if low == ZERO_LOW { i32::MAX } else { low + codes.least },
            top: codes.nearest - least(self.near),
        }
    }
}

/// Stats of 4 rows of A from their packed blocks, `stride` bytes apart.
///
/// # Safety
/// `blocks` blocks of N terms, N even, lie at `first`.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn scan_rows<const N: usize>(
    first: *const u8,
    stride: usize,
    blocks: usize,
    codes: Codes,
) -> Stats {
    let mut scan = Scan::<1>::new();
    for block in 0..blocks {
        for t in (0..N).step_by(2) {
            // SAFETY: each of the block's terms has 4 values, 4 x 4 codes and 4 x 4 distances.
            unsafe {
                let at = first.add(block * stride + t * A_STEP);
                let two =
                    |i: usize| _mm256_loadu2_m128i(at.add(A_STEP + 16 * i).cast(), at.add(16 * i).cast());
                scan.values(0, _mm256_castsi256_ps(two(0)));
                scan.bytes(two(1), two(2));
            }
        }
    }
    // Lanes 4 apart are one row's.
    let sums = scan.sums[0];
    scan.sums[0] = _mm256_add_ps(sums, _mm256_permute2f128_ps::<1>(sums, sums));
    scan.stats(codes)
}

/// Stats of the columns of a packed panel of B.
///
/// # Safety
/// `terms` terms lie at `first`.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn scan_columns(first: *const u8, terms: usize, codes: Codes) -> Stats {
    let mut scan = Scan::<8>::new();
    for t in 0..terms {
        // SAFETY: each term has 64 values, 64 distances and 64 codes.
        unsafe {
            let at = first.add(t * B_STEP);
            for i in 0..8 {
                scan.values(i, _mm256_loadu_ps(at.cast::<f32>().add(8 * i)));
            }
            for half in 0..2 {
                let bytes = |i: usize| _mm256_loadu_si256(at.add(4 * PANEL + i * PANEL + 32 * half).cast());
                scan.bytes(bytes(1), bytes(0));
            }
        }
    }
    scan.stats(codes)
}

/// Whether a segment needs no cut; c of such a one has no -0 then.
///
/// # Safety
/// `c` covers 4 x 64 elements.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn holds<const MUT: u32>(
    a: &Stats,
    b: &Stats,
    c: *mut f32,
    fraction: i32,
    precision: u32,
) -> bool {
    use mutation::*;
    // Without a nonzero factor nothing is added: any low serves.
    let none = a.low == i32::MAX || b.low == i32::MAX;
    let (low, top) = if none { (0, 0) } else { (a.low + b.low, a.top + b.top) };
    if top > low + fraction && MUT & TOP == 0 {
        return false;
    }
    let unit = f64::from_bits(((1023 - low) as u64) << 52);
    let limit = f64::from(1u32 << (precision + 1));
    let bound = |x: f32, y: f32| f64::from(x) * f64::from(y) * unit;
    let products = bound(a.max, b.sum).min(bound(a.sum, b.max));
    if products >= limit && MUT & SUM == 0 {
        return false;
    }
    let scale = _mm256_set1_ps(unit as f32);
    let (mut largest, mut broken) = (_mm256_setzero_ps(), _mm256_setzero_ps());
    // SAFETY: the caller's contract.
    unsafe {
        for i in 0..ROWS * PANEL / 8 {
            let x = _mm256_mul_ps(_mm256_loadu_ps(c.add(8 * i)), scale);
            let whole = _mm256_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x);
            broken = _mm256_or_ps(broken, _mm256_cmp_ps::<_CMP_NEQ_UQ>(x, whole));
            largest = _mm256_max_ps(largest, _mm256_andnot_ps(_mm256_set1_ps(-0.0), x));
        }
        let mut magnitudes = [0f32; 8];
        _mm256_storeu_ps(magnitudes.as_mut_ptr(), largest);
        let addend = magnitudes.iter().fold(0f32, |most, x| most.max(*x));
        let addend = if MUT & ADDEND == 0 { f64::from(addend) } else { 0.0 };
        let multiple = _mm256_movemask_ps(broken) == 0 || MUT & MULTIPLE != 0;
        if !multiple || addend + products >= limit && MUT & SUM == 0 {
            return false;
        }
        if MUT & PLUS_ZERO == 0 {
            for i in 0..ROWS * PANEL / 8 {
                let c = c.add(8 * i);
                _mm256_storeu_ps(c, _mm256_add_ps(_mm256_loadu_ps(c), _mm256_setzero_ps()));
            }
        }
    }
    true
}

/// c += a b over one block, 4 rows by 64 columns.
///
/// # Safety
/// `a` and `b` point at blocks of N terms, `c` at 4 x 64 elements.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn multiply<const N: usize>(a: *const u8, b: *const u8, c: *mut f32) {
    // SAFETY: the strips cover the 64 columns.
    unsafe {
        strip::<N, 3>(a, b, c);
        strip::<N, 3>(a, b.add(4 * 24), c.add(24));
        strip::<N, 2>(a, b.add(4 * 48), c.add(48));
    }
}

/// 4 rows by W vectors of columns.
///
/// # Safety
/// As [`multiply`], for 8 W columns from `b` and `c` on.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn strip<const N: usize, const W: usize>(a: *const u8, b: *const u8, c: *mut f32) {
    // SAFETY: all offsets stay inside the ranges named above.
    unsafe {
        let mut s: [[__m256; W]; ROWS] =
            core::array::from_fn(|r| core::array::from_fn(|i| _mm256_loadu_ps(c.add(r * PANEL + 8 * i))));
        for r in 0..ROWS {
            // The next rows' accumulators.
            _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add((ROWS + r) * PANEL).cast());
        }
        for t in 0..N {
            // The next rows' block of A.
            _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(N * A_STEP + t * A_STEP).cast());
            let v: [__m256; W] =
                core::array::from_fn(|i| _mm256_loadu_ps(b.add(t * B_STEP).cast::<f32>().add(8 * i)));
            for r in 0..ROWS {
                let x = _mm256_broadcast_ss(&*a.add(t * A_STEP + 4 * r).cast());
                for i in 0..W {
                    s[r][i] = _mm256_fmadd_ps(x, v[i], s[r][i]);
                }
            }
        }
        for r in 0..ROWS {
            for i in 0..W {
                _mm256_storeu_ps(c.add(r * PANEL + 8 * i), s[r][i]);
            }
        }
    }
}
