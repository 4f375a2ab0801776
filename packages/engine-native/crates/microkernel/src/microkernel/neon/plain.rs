//! fp32 fused multiply-adds and 16-bit integer pairs, 4 rows by 16 columns in registers.

use core::arch::aarch64::*;

use crate::PANEL;
use crate::microkernel::plain::{ROWS, Unit, is_nan, pair};
use crate::params::Format;

/// IEEE fused multiply-adds in order, RNE, subnormals kept (the default FPCR). Infinities follow IEEE; a NaN is the
/// caller's, for its payload.
pub(crate) struct Fma;

impl Unit for Fma {
    const NAME: &'static str = "neon/sequential-fma";
    const PER: usize = 1;
    const KC: usize = 64;
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

#[target_feature(enable = "neon")]
unsafe fn fma(a: *const f32, b: *const f32, c: *mut f32, units: usize) {
    for j in (0..PANEL).step_by(16) {
        // SAFETY: all offsets stay inside the ranges that Unit::step names.
        unsafe {
            let mut s: [[float32x4_t; 4]; ROWS] =
                core::array::from_fn(|r| core::array::from_fn(|i| vld1q_f32(c.add(r * PANEL + j + 4 * i))));
            for u in 0..units {
                let v: [float32x4_t; 4] = core::array::from_fn(|i| vld1q_f32(b.add(u * PANEL + j + 4 * i)));
                for r in 0..ROWS {
                    let x = vld1q_dup_f32(a.add(u * ROWS + r));
                    for i in 0..4 {
                        s[r][i] = vfmaq_f32(s[r][i], x, v[i]);
                    }
                }
            }
            for r in 0..ROWS {
                for i in 0..4 {
                    vst1q_f32(c.add(r * PANEL + j + 4 * i), s[r][i]);
                }
            }
        }
    }
}

/// Sums of 8-bit products, widened to 16 bits, by smull and addp: exact, then modulo 2^32.
pub(crate) struct Pairs;

impl Unit for Pairs {
    const NAME: &'static str = "neon/integer-pairs";
    const PER: usize = 2;
    const KC: usize = 128;

    #[inline(always)]
    fn a(words: &[u32], format: Format) -> u32 {
        pair(words, format)
    }

    #[inline(always)]
    fn b(words: &[u32], format: Format) -> u32 {
        pair(words, format)
    }

    unsafe fn step(a: *const u32, b: *const u32, c: *mut u32, units: usize) {
        // SAFETY: the caller's contract is `dot`'s.
        unsafe { dot(a.cast(), b.cast(), c.cast(), units) }
    }

    fn refuse(_: u32) -> bool {
        false
    }
}

#[target_feature(enable = "neon")]
unsafe fn dot(a: *const i32, b: *const i16, c: *mut i32, units: usize) {
    for j in (0..PANEL).step_by(16) {
        // SAFETY: all offsets stay inside the ranges that Unit::step names.
        unsafe {
            let mut s: [[int32x4_t; 4]; ROWS] =
                core::array::from_fn(|r| core::array::from_fn(|i| vld1q_s32(c.add(r * PANEL + j + 4 * i))));
            for u in 0..units {
                // Four columns of two k each a vector.
                let v: [int16x8_t; 4] =
                    core::array::from_fn(|i| vld1q_s16(b.add(2 * (u * PANEL + j + 4 * i))));
                for r in 0..ROWS {
                    let x = vreinterpretq_s16_s32(vld1q_dup_s32(a.add(u * ROWS + r)));
                    for i in 0..4 {
                        let low = vmull_s16(vget_low_s16(x), vget_low_s16(v[i]));
                        let high = vmull_high_s16(x, v[i]);
                        s[r][i] = vaddq_s32(s[r][i], vpaddq_s32(low, high));
                    }
                }
            }
            for r in 0..ROWS {
                for i in 0..4 {
                    vst1q_s32(c.add(r * PANEL + j + 4 * i), s[r][i]);
                }
            }
        }
    }
}
