//! fp32 fused multiply-adds and VNNI integers, 4 rows by 64 columns.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::microkernel::Block;
use crate::microkernel::plain::{ROWS, Unit, bytes, is_nan};
use crate::params::Format;

/// IEEE fused multiply-adds in order, RNE, subnormals kept (the default MXCSR). Infinities follow IEEE; a NaN is the
/// caller's, for its payload.
pub(crate) struct Fma;

impl Unit for Fma {
    const NAME: &'static str = "avx512/sequential-fma";
    const PER: usize = 1;
    const KC: usize = 128;
    const STICKY: bool = true;

    #[inline(always)]
    fn a(words: &[u32], _: Format) -> u32 {
        words[0]
    }

    #[inline(always)]
    fn b(words: &[u32], _: Format) -> u32 {
        words[0]
    }

    unsafe fn step(a: *const u32, b: *const u32, c: *mut u32, units: usize) {
        // SAFETY: the caller's contract is `fma`'s.
        unsafe { fma(a.cast(), b.cast(), c.cast(), units) }
    }

    fn refuse(word: u32) -> bool {
        is_nan(word)
    }
}

#[target_feature(enable = "avx512f")]
unsafe fn fma(a: *const f32, b: *const f32, c: *mut f32, units: usize) {
    // SAFETY: all offsets stay inside the ranges that Unit::step names.
    unsafe {
        let mut s: [[__m512; 4]; ROWS] =
            core::array::from_fn(|r| core::array::from_fn(|i| _mm512_loadu_ps(c.add(r * PANEL + 16 * i))));
        for u in 0..units {
            let v: [__m512; 4] = core::array::from_fn(|i| _mm512_loadu_ps(b.add(u * PANEL + 16 * i)));
            if u & 3 == 0 {
                // The next rows' block of A, and their 64 lines of c.
                _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add((Fma::KC + u) * ROWS).cast());
                _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add(ROWS * PANEL + 8 * u).cast());
                _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add(ROWS * PANEL + 8 * u + 16).cast());
            }
            for r in 0..ROWS {
                let x = _mm512_set1_ps(a.add(u * ROWS + r).read());
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

/// Sums of 8-bit products by vpdpbusd, unsigned times signed: a signed A is biased by 128, an unsigned B by -128, and
/// sum(ab) = sum(a'b') + cb sum(a') - ca sum(b') - ca cb n, all modulo 2^32.
pub(crate) struct Vnni;

impl Vnni {
    fn bias(a: Format, b: Format) -> (u32, u32) {
        (if a == Format::S8 { 128 } else { 0 }, if b == Format::U8 { 128 } else { 0 })
    }
}

impl Unit for Vnni {
    const NAME: &'static str = "avx512/integer-vnni";
    const PER: usize = 4;
    const KC: usize = 64;

    #[inline(always)]
    fn a(words: &[u32], format: Format) -> u32 {
        bytes(words) ^ if format == Format::S8 { 0x8080_8080 } else { 0 }
    }

    #[inline(always)]
    fn b(words: &[u32], format: Format) -> u32 {
        bytes(words) ^ if format == Format::U8 { 0x8080_8080 } else { 0 }
    }

    unsafe fn step(a: *const u32, b: *const u32, c: *mut u32, units: usize) {
        // SAFETY: the caller's contract is `dot`'s.
        unsafe { dot(a.cast(), b.cast(), c.cast(), units) }
    }

    fn correct(
        block: &Block<'_>,
        units: Range<usize>,
        groups: usize,
        formats: (Format, Format),
    ) -> Option<Vec<u32>> {
        let (ca, cb) = Self::bias(formats.0, formats.1);
        if ca == 0 && cb == 0 {
            return None;
        }
        let b = block.b.as_ptr().cast::<i32>();
        let mut columns = [0i32; ROWS * PANEL];
        let ones = vec![0x0101_0101i32; ROWS * units.len()];
        // SAFETY: the machine has VNNI (dispatch), the units lie in the packed panel, `ones` covers as many.
        unsafe { dot(ones.as_ptr(), b.add(units.start * PANEL), columns.as_mut_ptr(), units.len()) };
        let n = 4 * units.len() as u32;
        let mut lack = vec![0u32; groups * ROWS * PANEL];
        for (row, lack) in lack.chunks_exact_mut(PANEL).enumerate() {
            let mut sum = 0u32;
            if cb != 0 {
                let a = super::super::words(block.a);
                for u in units.clone() {
                    let at = (u / Self::KC * groups + row / ROWS) * Self::KC + u % Self::KC;
                    sum += a[at * ROWS + row % ROWS].to_le_bytes().iter().map(|x| u32::from(*x)).sum::<u32>();
                }
            }
            for (j, lack) in lack.iter_mut().enumerate() {
                *lack = cb
                    .wrapping_mul(sum)
                    .wrapping_sub(ca.wrapping_mul(columns[j] as u32))
                    .wrapping_sub((ca * cb).wrapping_mul(n));
            }
        }
        Some(lack)
    }

    fn refuse(_: u32) -> bool {
        false
    }
}

#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn dot(a: *const i32, b: *const i32, c: *mut i32, units: usize) {
    // SAFETY: all offsets stay inside the ranges that Unit::step names.
    unsafe {
        let mut s: [[__m512i; 4]; ROWS] = core::array::from_fn(|r| {
            core::array::from_fn(|i| _mm512_loadu_si512(c.add(r * PANEL + 16 * i).cast()))
        });
        for u in 0..units {
            let v: [__m512i; 4] =
                core::array::from_fn(|i| _mm512_loadu_si512(b.add(u * PANEL + 16 * i).cast()));
            for r in 0..ROWS {
                let x = _mm512_set1_epi32(a.add(u * ROWS + r).read());
                for i in 0..4 {
                    s[r][i] = _mm512_dpbusd_epi32(s[r][i], x, v[i]);
                }
            }
        }
        for r in 0..ROWS {
            for i in 0..4 {
                _mm512_storeu_si512(c.add(r * PANEL + 16 * i).cast(), s[r][i]);
            }
        }
    }
}
