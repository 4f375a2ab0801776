//! Windows of 24 and 25 fraction bits in 32-bit integers, over formats of up to fp32's exponent range: packing and the
//! parts that the families share; 4 rows by 64 columns.
//!
//! Values are scaled by the largest exponent of their block of A's row or B's column to less than 1: a' = a / 2^(amax +
//! 1), b' alike. A product p' = a' b' is exact in fp32 (22 bits), and as its exponent field grows by k it becomes a
//! number of quanta: k = amax + bmax + 2 + F - E. Conversion cuts it toward zero. With 0 <= k <= 126 a zero or subnormal
//! p' becomes less than 1. Elements more than REACH below amax or bmax count as zeros where k <= REACH + 1: there their
//! products are less than a quanta. So no p' of normal words is subnormal, which would cost a microcode assist.
//!
//! Distances: da = amax - e, db = bmax - e + F + 2, each capped, a zero 255; the least of their saturated sums is k where no
//! addend dominates. Byte 4l + i of 64 is column 16i + l, as in `narrow`.
//!
//! A block of A holds, each [term][row]: values, da x 4; then amax of 4 rows, -1 for each row whose sums may leave 32
//! bits, and the words [term][row]. A block of B holds per term 64 values and 64 distances, then bmax + F + 2 + 127 of 64
//! columns, then the words [term][column]. Padding rows and columns are zeros with the codes of ones.

use core::arch::x86_64::*;

use crate::PANEL;
use crate::microkernel::cold::Terms;
use crate::pack::Layout;

/// Rows of one register tile.
pub const ROWS: usize = 4;
/// Exponents below the largest of a block that are kept.
pub const REACH: i32 = 62;
/// Largest k whose zeros vanish.
pub const K_MOST: i32 = 126;
/// Bytes of a term of B.
pub const STEP: usize = 5 * PANEL;

/// Faults that tests plant: bits of `MUT`.
pub(crate) mod mutation {
    pub const CUT: u32 = 1;
    pub const ADDEND_CUT: u32 = 1 << 1;
    pub const CLAMP: u32 = 1 << 2;
    pub const ZERO_CODE: u32 = 1 << 3;
    pub const OVERFLOW: u32 = 1 << 4;
    pub const LOW: u32 = 1 << 5;
    pub const FAR: u32 = 1 << 6;
    pub const AND_MASK: u32 = 1 << 7;
    pub const LOUD: u32 = 1 << 8;
    pub const TAIL: u32 = 1 << 9;
    pub const NORMAL: u32 = 1 << 10;
    pub const ADDEND_FLOOR: u32 = 1 << 11;
    pub const ADDEND_REACH: u32 = 1 << 12;
    pub const MERGE: u32 = 1 << 13;
}
use mutation::CUT;

pub const fn a_block(n: usize) -> usize {
    48 * n + 32
}

pub const fn b_block(n: usize) -> usize {
    n * STEP + 4 * PANEL + 4 * PANEL * n
}

/// Largest k at which what lies beyond REACH vanishes.
pub fn k_most(a: &Layout, b: &Layout) -> i32 {
    let near = |l: &Layout| l.emax() - l.emin() <= REACH;
    if near(a) && near(b) { K_MOST } else { REACH + 1 }
}

/// Least da + db, saturated, of 4 rows by (columns 16i..16i + 8, the rest).
///
/// # Safety
/// `a` and `b` point at blocks of N terms.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn distances<const N: usize>(a: *const u8, b: *const u8) -> [[__m256i; 2]; ROWS] {
    let mut d = [[_mm256_set1_epi8(-1); 2]; ROWS];
    for t in 0..N {
        // The next rows' block of A, but for its words.
        if t <= N / 2 {
            _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(a_block(N) + 64 * t).cast());
        }
        // SAFETY: t < N keeps the offsets in their blocks.
        unsafe {
            let db: [__m256i; 2] = core::array::from_fn(|half| {
                _mm256_loadu_si256(b.add(t * STEP + 4 * PANEL + 32 * half).cast())
            });
            for r in 0..ROWS {
                let da = _mm256_set1_epi32(a.add(16 * N + 4 * (t * ROWS + r)).cast::<i32>().read());
                for half in 0..2 {
                    d[r][half] = _mm256_min_epu8(d[r][half], _mm256_adds_epu8(da, db[half]));
                }
            }
        }
    }
    d
}

/// Byte `i` of 8 distances, as doublewords.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub fn byte(d: __m256i, i: usize) -> __m256i {
    let d = _mm256_srl_epi32(d, _mm_cvtsi32_si128(8 * i as i32));
    _mm256_and_si256(d, _mm256_set1_epi32(0xFF))
}

/// Exponent fields of 8 fp32.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub fn field(x: __m256i) -> __m256i {
    _mm256_srli_epi32::<24>(_mm256_slli_epi32::<1>(x))
}

/// amax + bmax + F + 2 + 127 of row `r`, columns `at..at + 8`.
///
/// # Safety
/// `a` and `b` point at blocks of N terms; at <= 56.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn tops<const N: usize>(a: *const u8, b: *const u8, r: usize, at: usize) -> __m256i {
    // SAFETY: both offsets lie in their blocks.
    unsafe {
        let row = _mm256_set1_epi32(a.add(32 * N + 4 * r).cast::<i32>().read());
        _mm256_add_epi32(row, _mm256_loadu_si256(b.add(N * STEP + 4 * at).cast()))
    }
}

/// Whether sums of any of the 4 rows may leave 32 bits; of row `r` alone.
///
/// # Safety
/// `a` points at a block of N terms.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn loud<const N: usize>(a: *const u8) -> [i32; ROWS] {
    // SAFETY: the offset lies in the block.
    unsafe { a.add(32 * N + 16).cast::<[i32; ROWS]>().read_unaligned() }
}

/// Adds the quanta of N products to `s`, 4 rows by columns `at..at + 16`; `k` are the shifts as exponent fields.
///
/// # Safety
/// `a` and `b` point at blocks of N terms; at <= 48.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn products<const N: usize, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    at: usize,
    k: &[[__m256i; 2]; ROWS],
    s: &mut [[__m256i; 2]; ROWS],
) {
    for t in 0..N {
        // SAFETY: t < N keeps the offsets in their blocks.
        unsafe {
            let v: [__m256; 2] = core::array::from_fn(|half| {
                _mm256_loadu_ps(b.add(t * STEP).cast::<f32>().add(at + 8 * half))
            });
            for r in 0..ROWS {
                let x = _mm256_broadcast_ss(&*a.add(4 * (t * ROWS + r)).cast());
                for half in 0..2 {
                    let p = _mm256_castps_si256(_mm256_mul_ps(x, v[half]));
                    let quanta = _mm256_castsi256_ps(_mm256_add_epi32(p, k[r][half]));
                    let cut =
                        if MUT & CUT == 0 { _mm256_cvttps_epi32(quanta) } else { _mm256_cvtps_epi32(quanta) };
                    s[r][half] = _mm256_add_epi32(s[r][half], cut);
                }
            }
        }
    }
}

/// The numbers of row `r`.
///
/// # Safety
/// `a` points at a block of N terms; r < 4.
#[inline(always)]
pub unsafe fn row_terms<const N: usize>(l: &Layout, a: *const u8, r: usize) -> Terms<N> {
    let mut words = [0; N];
    for (t, word) in words.iter_mut().enumerate() {
        // SAFETY: t < N keeps the offset in the block.
        *word = unsafe { a.add(32 * N + 32 + 4 * (t * ROWS + r)).cast::<u32>().read_unaligned() };
    }
    Terms::new(l, words)
}

/// The numbers of column `col`.
///
/// # Safety
/// `b` points at a block of N terms; col < 64.
#[inline(always)]
pub unsafe fn column_terms<const N: usize>(l: &Layout, b: *const u8, col: usize) -> Terms<N> {
    let mut words = [0; N];
    for (t, word) in words.iter_mut().enumerate() {
        // SAFETY: t < N keeps the offset in the block.
        *word = unsafe { b.add(N * STEP + 4 * PANEL + 4 * (t * PANEL + col)).cast::<u32>().read_unaligned() };
    }
    Terms::new(l, words)
}

/// Results of single columns of 16, and whether no column can change any more.
#[derive(Default)]
pub struct Fix {
    words: [[u32; 16]; ROWS],
    mask: [u16; ROWS],
    pub last: bool,
}

impl Fix {
    pub fn set(&mut self, r: usize, j: usize, word: u32) {
        self.words[r][j] = word;
        self.mask[r] |= 1 << j;
    }

    /// Writes what was set.
    ///
    /// # Safety
    /// `c` points at 16 columns of 4 rows of 64 accumulators.
    #[inline(always)]
    pub unsafe fn put(&self, c: *mut u32) {
        if self.mask == [0; ROWS] {
            return;
        }
        for r in 0..ROWS {
            for j in 0..16 {
                if self.mask[r] >> j & 1 == 1 {
                    // SAFETY: r < 4 and j < 16.
                    unsafe { *c.add(r * PANEL + j) = self.words[r][j] };
                }
            }
        }
    }
}
