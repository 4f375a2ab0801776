//! FP8 by mma.sync on sm_90 and sm_100: two fused windows of 16 terms (F = 25), then c as one IEEE addition.
//!
//! Packing puts the 16 of 32 k with bit 1 clear first. Both windows run on the fp64 chain with a zero c; c itself is
//! only ever the operand of the last addition, in fp32 to nearest even (the default rounding, which nothing here
//! changes), so that any c but a NaN is in range: infinities and overflow follow IEEE.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::microkernel::avx512::ahead;
use crate::microkernel::avx512::chain_f64::{ROWS, V, load8, narrow_to_f32};
use crate::microkernel::avx512::window_f64::{Constants, SCALE, ZERO_DISTANCE, pack_a, pack_b, step};
use crate::microkernel::narrow::{C_LEAST, a_block, b_block, fits, packed_k};
use crate::microkernel::{Aligned, Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

/// Terms of one half.
const N: usize = 16;
const F: i32 = 25;

/// Faults that tests plant: bits of `MUT`, besides those of `narrow`.
pub(crate) mod mutation {
    pub const LATE_ADDEND: u32 = 1 << 12;
    pub const SECOND_FROM_ZERO: u32 = 1 << 13;
}

pub(crate) struct SplitF64<const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
}

impl<const MUT: u32> SplitF64<MUT> {
    /// None where the formats are not FP8 or a floor could bind.
    pub fn new(a: Layout, b: Layout, floor: Option<i32>) -> Option<Self> {
        let small = a.bits() <= 8 && b.bits() <= 8 && fits(&a) && fits(&b);
        (small && floor.is_none_or(|f| f <= C_LEAST)).then_some(SplitF64 { a, b })
    }
}

impl<const MUT: u32> Micro for SplitF64<MUT> {
    fn name(&self) -> &'static str {
        "avx512/split-window-f64"
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * packed_k::<N, true>(k) / N * a_block(V, ROWS, N) / 8
    }

    fn b_len(&self, k: usize) -> usize {
        packed_k::<N, true>(k) / N * b_block(V, N) / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        // SAFETY: dispatch made this kernel on a machine with AVX-512.
        unsafe { pack_a::<N, true, MUT>(&self.a, a, rows, k, as_bytes(out), bad) }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        // SAFETY: as above.
        unsafe { pack_b::<N, true, MUT>(&self.a, &self.b, b, cols, k, as_bytes(out)) }
    }

    fn addend_ok(&self, word: u32) -> bool {
        word << 1 <= 0xFF00_0000
    }

    fn run(&self, block: Block<'_>) -> bool {
        // SAFETY: dispatch made this kernel on a machine with AVX-512; Kernel::tile's buffers have the lengths that
        // `a_len` and `b_len` name, with chain ranges inside the packed K.
        unsafe { run::<MUT>(self, block) };
        false
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn run<const MUT: u32>(w: &SplitF64<MUT>, block: Block<'_>) {
    let Block { a, b, rows, chain, c, .. } = block;
    let pairs = rows.div_ceil(ROWS);
    let constants = Constants::new(F, w.a.emax() + w.b.emax(), 23);
    let mut sum = Aligned([0f64; ROWS * PANEL]);
    let mut distance = Aligned([0u8; ROWS * PANEL]);
    let mut second = Aligned([0f32; PANEL]);
    let (s, d) = (sum.0.as_mut_ptr(), distance.0.as_mut_ptr());
    // SAFETY: pairs * ROWS <= ROW_BLOCK rows exist in `c`; the packed buffers hold both halves of every 32 k.
    unsafe {
        for range in chain {
            for k0 in range.clone().step_by(2 * N) {
                for pair in 0..pairs {
                    s.write_bytes(0, ROWS * PANEL);
                    d.write_bytes(ZERO_DISTANCE, ROWS * PANEL);
                    for half in 0..2 {
                        if half == 1 && MUT & mutation::SECOND_FROM_ZERO != 0 {
                            s.write_bytes(0, ROWS * PANEL);
                            d.write_bytes(ZERO_DISTANCE, ROWS * PANEL);
                        }
                        let block = k0 / N + half;
                        let pb = b.as_ptr().cast::<u8>().add(block * b_block(V, N));
                        let pa = a.as_ptr().cast::<u8>().add((block * pairs + pair) * a_block(V, ROWS, N));
                        let ahead = ahead(pb, 2 * b_block(V, N), (2 * pair + half) * N * 64, pa);
                        step::<N, F, MUT>(pa, pb, s, d, &constants, ahead);
                    }
                    for r in 0..ROWS {
                        let c = c.as_mut_ptr().add((pair * ROWS + r) * PANEL).cast::<f32>();
                        narrow_to_f32(load8(s.add(r * PANEL)), SCALE, constants.keep, second.0.as_mut_ptr());
                        for i in 0..4 {
                            let c = c.add(16 * i);
                            let x = _mm512_loadu_ps(second.0.as_ptr().add(16 * i));
                            let y = if MUT & mutation::LATE_ADDEND == 0 {
                                _mm512_add_ps(_mm512_loadu_ps(c), x)
                            } else {
                                _mm512_add_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(
                                    _mm512_loadu_ps(c),
                                    x,
                                )
                            };
                            _mm512_storeu_ps(c, y);
                        }
                    }
                }
            }
        }
    }
}
