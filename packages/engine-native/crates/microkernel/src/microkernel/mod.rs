//! The micro-kernels: one row block of A against one panel of B along a chain of K.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod cold;
pub(crate) mod exponents;
pub(crate) mod narrow;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod plain;
pub(crate) mod wide;

use core::ops::Range;

use crate::words::View;

/// One call's work. `c` holds rows x PANEL accumulator words, in and out; `bad` one word a row, bit j set: element j
/// is not computed here. The micro-kernel may set more bits.
pub(crate) struct Block<'a> {
    pub a: &'a [u64],
    pub b: &'a [u64],
    pub rows: usize,
    /// The packed operands' K.
    pub k: usize,
    pub chain: &'a [Range<usize>],
    /// Whether the exact fast path may be taken.
    pub exact: bool,
    pub c: &'a mut [u32],
    pub bad: &'a mut [u64],
}

pub(crate) trait Micro: Send + Sync {
    fn name(&self) -> &'static str;

    /// u64 words of packed A.
    fn a_len(&self, rows: usize, k: usize) -> usize;

    /// u64 words of one packed panel of B.
    fn b_len(&self, k: usize) -> usize;

    /// Packs rows of A; sets `bad[i]` to all ones where row i has a word that the kernel cannot take.
    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]);

    /// Packs at most PANEL columns of B, the rest as zero; returns the columns with a word that the kernel cannot
    /// take, a bit each.
    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64;

    /// Whether the kernel's range covers this initial accumulator word.
    fn addend_ok(&self, word: u32) -> bool;

    /// Runs the chain; true if the exact fast path did all of it.
    fn run(&self, block: Block<'_>) -> bool;
}

fn as_bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: u8 has no alignment or invalid values; the length covers the same bytes.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}

fn as_words(words: &mut [u64]) -> &mut [u32] {
    // SAFETY: u64 is aligned for u32, every bit pattern is valid, the length covers the same bytes.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 2) }
}

fn words(words: &[u64]) -> &[u32] {
    // SAFETY: as above.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 2) }
}

/// A buffer on a cache line boundary: split loads and stores cost the epilogues a tenth of their speed.
#[repr(align(64))]
struct Aligned<T>(T);
