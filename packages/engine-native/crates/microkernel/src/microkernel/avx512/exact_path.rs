//! `window_f32` where nothing needs a cut: plain fused multiply-adds.
//!
//! Decided for 4 rows by 64 columns and a segment of K. Let a's factors be multiples of 2^la, b's of 2^lb, and
//! c of 2^G with G = la + lb; let |c| + sum |ab| < 2^(G + p + 1) for every element. Then each c + (part of the products)
//! is a multiple of 2^G of at most p + 1 bits, p <= F < 23: fp32's multiply-adds are exact, and so is a d of p fraction
//! bits. Let further e_a + e_b <= G + F for the largest encoded exponents. With e_c <= G + p, no E exceeds G + F, and
//! the quantum 2^(E - F) divides every term: no alignment cuts. (For factors in normal numbers the bound on the sum
//! implies it; a subnormal's encoded exponent is larger than its value's.) A c of -0 is made +0; from then on an exact
//! zero is +0, as the window gives.
//!
//! sum |ab| is at most min(max|a| sum|b|, sum|a| max|b|). The sums of magnitudes are fp32: a multiple of 2^la below
//! 2^(la + 24) has not been rounded, and one that was rounded is larger than what passes.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::narrow::step;
use crate::pack::Layout;

/// Rows of a group, bytes of a value.
const ROWS: usize = 4;
const STEP: usize = step(4);

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
    pub const STALE: u32 = 1 << 13;
}

/// Magnitudes of one segment of a group of rows, or of a panel's columns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Stats {
    max: f32,
    /// Largest sum of a row's, or a column's, magnitudes.
    sum: f32,
    /// All are multiples of 2^low.
    low: i32,
    /// Largest encoded exponent.
    top: i32,
}

/// 2^shift makes every finite number of the format an integer below 2^32; None where there is no such shift.
pub fn shift(l: &Layout) -> Option<i32> {
    let shift = l.fraction_bits as i32 - l.emin();
    (l.emax() + 1 + shift <= 32).then_some(shift)
}

/// Stats of `columns` vectors of 16 values, the sums apart for each lane and for each of `parts`.
struct Scan<const PARTS: usize> {
    max: __m512,
    bits: __m512i,
    sums: [__m512; PARTS],
    scale: __m512,
}

impl<const PARTS: usize> Scan<PARTS> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn new(shift: i32) -> Self {
        Scan {
            max: _mm512_setzero_ps(),
            bits: _mm512_setzero_si512(),
            sums: [_mm512_setzero_ps(); PARTS],
            scale: _mm512_set1_ps(f32::from_bits(((127 + shift) as u32) << 23)),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn add(&mut self, part: usize, x: __m512) {
        let x = _mm512_abs_ps(x);
        self.max = _mm512_max_ps(self.max, x);
        self.bits = _mm512_or_si512(self.bits, _mm512_cvttps_epu32(_mm512_mul_ps(x, self.scale)));
        self.sums[part] = _mm512_add_ps(self.sums[part], x);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn stats(&self, sum: f32, shift: i32, emin: i32) -> Stats {
        let max = _mm512_reduce_max_ps(self.max);
        let bits = _mm512_reduce_or_epi32(self.bits) as u32;
        let top = ((max.to_bits() >> 23) as i32 - 127).max(emin);
        // Without a nonzero factor nothing is added: any low serves.
        let low = if bits == 0 { 0 } else { bits.trailing_zeros() as i32 - shift };
        Stats { max, sum, low, top }
    }
}

/// Stats of rows of A from their packed blocks, `first` the group's first block and `stride` bytes from one to the next.
///
/// # Safety
/// `blocks` blocks of N terms lie at `first`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn scan_rows<const N: usize>(
    first: *const u8,
    stride: usize,
    blocks: usize,
    shift: i32,
    emin: i32,
) -> Stats {
    let mut scan = Scan::<ROWS>::new(shift);
    for block in 0..blocks {
        for r in 0..ROWS {
            for t in (0..N).step_by(16) {
                // SAFETY: the values of a block are its first ROWS x N fp32; N is a multiple of 16.
                let x = unsafe { _mm512_loadu_ps(first.add(block * stride).cast::<f32>().add(r * N + t)) };
                scan.add(r, x);
            }
        }
    }
    let sum = scan.sums.iter().fold(0f32, |sum, x| sum.max(_mm512_reduce_add_ps(*x)));
    scan.stats(sum, shift, emin)
}

/// Stats of the columns of a packed panel of B.
///
/// # Safety
/// `blocks` blocks of N terms lie at `first`, `stride` bytes apart.
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn scan_columns<const N: usize>(
    first: *const u8,
    stride: usize,
    blocks: usize,
    shift: i32,
    emin: i32,
) -> Stats {
    let mut scan = Scan::<4>::new(shift);
    for block in 0..blocks {
        for t in 0..N {
            for i in 0..4 {
                // SAFETY: each of the block's N terms begins with 64 fp32.
                let x = unsafe {
                    let term = first.add(block * stride + t * STEP).cast::<f32>();
                    _mm512_loadu_ps(term.add(16 * i))
                };
                scan.add(i, x);
            }
        }
    }
    let [w, x, y, z] = scan.sums;
    let sum = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(w, x), _mm512_max_ps(y, z)));
    scan.stats(sum, shift, emin)
}

/// Whether a segment needs no cut; c of such a one has no -0 then.
///
/// # Safety
/// `c` covers 4 x 64 elements.
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn holds<const MUT: u32>(
    a: &Stats,
    b: &Stats,
    c: *mut f32,
    fraction: i32,
    precision: u32,
) -> bool {
    use mutation::*;
    let low = a.low + b.low;
    if a.top + b.top > low + fraction && MUT & TOP == 0 {
        return false;
    }
    let unit = f64::from_bits(((1023 - low) as u64) << 52);
    let limit = f64::from(1u32 << (precision + 1));
    let bound = |x: f32, y: f32| f64::from(x) * f64::from(y) * unit;
    let products = bound(a.max, b.sum).min(bound(a.sum, b.max));
    if products >= limit && MUT & SUM == 0 {
        return false;
    }
    let scale = _mm512_set1_ps(unit as f32);
    let mut largest = _mm512_setzero_ps();
    let mut multiple = true;
    // SAFETY: the caller's contract.
    unsafe {
        for i in 0..ROWS * PANEL / 16 {
            let x = _mm512_abs_ps(_mm512_mul_ps(_mm512_loadu_ps(c.add(16 * i)), scale));
            largest = _mm512_max_ps(largest, x);
            let whole = _mm512_roundscale_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x);
            multiple &= _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(x, whole) == 0;
        }
        let addend = if MUT & ADDEND == 0 { f64::from(_mm512_reduce_max_ps(largest)) } else { 0.0 };
        if !(multiple || MUT & MULTIPLE != 0) || addend + products >= limit && MUT & SUM == 0 {
            return false;
        }
        for i in 0..ROWS * PANEL / 16 {
            if MUT & PLUS_ZERO == 0 {
                let c = c.add(16 * i);
                _mm512_storeu_ps(c, _mm512_add_ps(_mm512_loadu_ps(c), _mm512_setzero_ps()));
            }
        }
    }
    true
}

/// c += a b over one block, 4 rows by 64 columns.
///
/// # Safety
/// `a` and `b` point at blocks of N terms, `c` at 4 x 64 elements; `ahead` is only prefetched.
#[inline(never)]
#[target_feature(enable = "avx512f")]
pub unsafe fn multiply<const N: usize>(
    a: *const u8,
    b: *const u8,
    c: *mut f32,
    next: *const u8,
    ahead: *const u8,
) {
    // SAFETY: all offsets stay inside the ranges named above.
    unsafe {
        let mut s: [[__m512; 4]; ROWS] =
            core::array::from_fn(|r| core::array::from_fn(|i| _mm512_loadu_ps(c.add(r * PANEL + 16 * i))));
        for t in 0..N {
            let v: [__m512; 4] =
                core::array::from_fn(|i| _mm512_loadu_ps(b.add(t * STEP).cast::<f32>().add(16 * i)));
            _mm_prefetch::<_MM_HINT_T1>(ahead.wrapping_add(t * 64).cast());
            if t < N / 4 {
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(t * 64).cast());
            }
            for r in 0..ROWS {
                let x = _mm512_set1_ps(a.cast::<f32>().add(r * N + t).read());
                for i in 0..4 {
                    s[r][i] = _mm512_fmadd_ps(x, v[i], s[r][i]);
                }
            }
        }
        for r in 0..ROWS {
            for i in 0..4 {
                _mm512_storeu_ps(c.add(r * PANEL + 16 * i), s[r][i]);
            }
        }
    }
}
