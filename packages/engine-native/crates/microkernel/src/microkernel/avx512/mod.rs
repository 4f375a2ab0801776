//! AVX-512 micro-kernels.

mod chain_f64;
pub(crate) mod exact;
pub(crate) mod exact_path;
pub(crate) mod odd_even_f64;
pub(crate) mod pairwise;
pub(crate) mod plain;
pub(crate) mod split_f64;
pub(crate) mod window_f32;
pub(crate) mod window_f64;
pub(crate) mod window_i32;
mod window_i32_rare;
pub(crate) mod window_wide;
mod window_wide_rare;

use core::arch::asm;
use core::arch::x86_64::{__m512i, __mmask64};

/// Adds `ones` to the bytes of `count` under `mask`, as one instruction: left to itself, LLVM turns it into a move
/// of the mask to a vector and a subtraction, one more operation on the two vector ports that bound the loop.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn count_masked(mut count: __m512i, mask: __mmask64, ones: __m512i) -> __m512i {
    // SAFETY: one register-only instruction of AVX-512 BW, which the target features name.
    unsafe {
        asm!(
            "vpaddb {c}{{{k}}}, {c}, {o}",
            c = inout(zmm_reg) count,
            k = in(kreg) mask,
            o = in(zmm_reg) ones,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    count
}

/// Where a step prefetches: its share, at `offset`, of the block of B after the one at `b`, or `other` once that
/// block is done.
#[inline]
pub(crate) fn ahead(b: *const u8, block: usize, offset: usize, other: *const u8) -> *const u8 {
    if offset < block { b.wrapping_add(block + offset) } else { other }
}
