//! Fused windows of 23 to 25 fraction bits over narrow formats (fp16, FP8, FP6, FP4), on the fp64 floor chain.
//!
//! Byte codes are those of `window_f32` (its constants hold for every format with encoded exponents in -14..15).
//! Values carry a factor 2^128 in fp64, so that c's exponent field is 1024 + its fp32 field and that of zero is 0.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::gemm::ROW_BLOCK;
use crate::microkernel::avx512::ahead;
use crate::microkernel::avx512::chain_f64::{
    ROWS, V, distances, finish, load8, low_counts, narrow_to_f32, origins, products, spread, start, store8,
    widen,
};
use crate::microkernel::narrow::mutation::{ADDEND_LIMIT, AND_MASK, CLAMP};
use crate::microkernel::narrow::{self, C_LEAST, TOP, a_block, b_block, fits};
use crate::microkernel::{Aligned, Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

/// Binary logarithm of the factor that all values carry.
pub(super) const SCALE: i32 = 128;

pub(crate) struct WindowF64<const N: usize, const F: i32, const MUT: u32> {
    a: Layout,
    b: Layout,
    precision: u32,
}

impl<const N: usize, const F: i32, const MUT: u32> WindowF64<N, F, MUT> {
    /// None where the ranges above do not hold.
    pub fn new(a: Layout, b: Layout, floor: Option<i32>, precision: u32) -> Option<Self> {
        let window = (23..=25).contains(&F) && N <= 32 && precision == 23;
        // Accepted and resulting c have exponents above C_LEAST: no floor binds, none is subnormal.
        let open = floor.is_none_or(|f| f <= C_LEAST) && -30 - F >= C_LEAST;
        (fits(&a) && fits(&b) && window && open).then_some(WindowF64 { a, b, precision })
    }
}

impl<const N: usize, const F: i32, const MUT: u32> Micro for WindowF64<N, F, MUT> {
    fn name(&self) -> &'static str {
        "avx512/fused-window-f64"
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * k.div_ceil(N) * a_block(V, ROWS, N) / 8
    }

    fn b_len(&self, k: usize) -> usize {
        k.div_ceil(N) * b_block(V, N) / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        // SAFETY: dispatch made this kernel on a machine with AVX-512.
        unsafe { pack_a::<N, false, MUT>(&self.a, a, rows, k, as_bytes(out), bad) }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        // SAFETY: as above.
        unsafe { pack_b::<N, false, MUT>(&self.a, &self.b, b, cols, k, as_bytes(out)) }
    }

    fn addend_ok(&self, word: u32) -> bool {
        narrow::addend_ok(word) || MUT & ADDEND_LIMIT != 0
    }

    fn run(&self, block: Block<'_>) -> bool {
        // SAFETY: dispatch made this kernel on a machine with AVX-512; Kernel::tile's buffers have the lengths that
        // `a_len` and `b_len` name, with chain ranges inside the packed K.
        unsafe { run::<N, F, MUT>(self, block) };
        false
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn pack_a<const N: usize, const SPLIT: bool, const MUT: u32>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    narrow::pack_a::<V, ROWS, N, SPLIT, MUT>(layout, a, rows, k, out, bad);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn pack_b<const N: usize, const SPLIT: bool, const MUT: u32>(
    layout_a: &Layout,
    layout: &Layout,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    out: &mut [u8],
) -> u64 {
    narrow::pack_b::<V, N, SPLIT, MUT>(layout_a, layout, SCALE, b, cols, k, out)
}

pub(super) struct Constants {
    /// M's top word is this minus 16 d.
    pub m_base: i16,
    /// T + 1 = d - t_base, saturated at 0.
    pub t_base: i8,
    pub keep: i64,
}

impl Constants {
    /// `low`: L, the largest low bit of a product.
    pub fn new(fraction: i32, low: i32, precision: u32) -> Self {
        Constants {
            m_base: ((TOP + 52 - fraction + 1023 + SCALE) << 4 | 8) as i16,
            t_base: (TOP - 1 - fraction - low) as i8,
            keep: -1 << (52 - precision),
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn run<const N: usize, const F: i32, const MUT: u32>(w: &WindowF64<N, F, MUT>, block: Block<'_>) {
    let Block { a, b, rows, chain, c, .. } = block;
    let pairs = rows.div_ceil(ROWS);
    let mut tile = Aligned([0f64; ROW_BLOCK * PANEL]);
    let mut distance = Aligned([0u8; ROW_BLOCK * PANEL]);
    let constants = Constants::new(F, w.a.emax() + w.b.emax(), w.precision);
    // SAFETY: pairs * ROWS <= ROW_BLOCK rows exist in `c`, `tile` and `distance`; the packed buffers hold every block
    // of the chain's ranges.
    unsafe {
        for r in 0..pairs * ROWS {
            let at = r * PANEL;
            let words = c.as_ptr().add(at).cast();
            let wide = widen(words, SCALE);
            store8(tile.0.as_mut_ptr().add(at), wide);
            _mm512_storeu_si512(distance.0.as_mut_ptr().add(at).cast(), pack_distances(wide));
        }
        for range in chain {
            for k0 in range.clone().step_by(N) {
                let pb = b.as_ptr().cast::<u8>().add(k0 / N * b_block(V, N));
                for pair in 0..pairs {
                    let pa = a.as_ptr().cast::<u8>().add((k0 / N * pairs + pair) * a_block(V, ROWS, N));
                    let at = pair * ROWS * PANEL;
                    let (c, d) = (tile.0.as_mut_ptr().add(at), distance.0.as_mut_ptr().add(at));
                    let ahead = ahead(pb, b_block(V, N), pair * N * 64, pa);
                    step::<N, F, MUT>(pa, pb, c, d, &constants, ahead);
                }
            }
        }
        for r in 0..pairs * ROWS {
            let at = r * PANEL;
            narrow_to_f32(
                load8(tile.0.as_ptr().add(at)),
                SCALE,
                constants.keep,
                c.as_mut_ptr().add(at).cast(),
            );
        }
    }
}

/// Distance byte of a zero accumulator.
pub(super) const ZERO_DISTANCE: u8 = (127 + TOP) as u8;

/// Distance bytes of 64 accumulators, byte 8l + i that of column 8i + l: 227 minus the low byte of the exponent field.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
fn pack_distances(x: [__m512d; 8]) -> __m512i {
    let x = x.map(|x| _mm512_castpd_si512(x));
    let byte = |i: u32| _mm512_set1_epi64((0xFF_u64 << (8 * i)) as i64);
    // Select by mask: (mask & y) | (!mask & x).
    let out = _mm512_srli_epi64::<52>(x[0]);
    let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_srli_epi64::<44>(x[1]), byte(1));
    let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_srli_epi64::<36>(x[2]), byte(2));
    let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_srli_epi64::<28>(x[3]), byte(3));
    let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_srli_epi64::<20>(x[4]), byte(4));
    let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_srli_epi64::<12>(x[5]), byte(5));
    let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_srli_epi64::<4>(x[6]), byte(6));
    let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_slli_epi64::<4>(x[7]), byte(7));
    _mm512_sub_epi8(_mm512_set1_epi8((127 + TOP) as u8 as i8), out)
}

/// One block step of 2 rows by 64 columns.
///
/// # Safety
/// `a` and `b` point at blocks, `c` and `distance` at 2 x 64 elements.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
pub(super) unsafe fn step<const N: usize, const F: i32, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    c: *mut f64,
    distance: *mut u8,
    constants: &Constants,
    ahead: *const u8,
) {
    // SAFETY: all offsets stay inside the ranges named above.
    unsafe {
        let d = core::array::from_fn(|r| _mm512_loadu_si512(distance.add(r * PANEL).cast()));
        let d = distances::<N, false>(a, b, d);
        let m_base = _mm512_set1_epi16(constants.m_base);
        let t_base = _mm512_set1_epi8(constants.t_base);
        let m = |d| origins(spread(d).map(|x| _mm512_sub_epi16(m_base, x)));
        let mut s = [[_mm512_setzero_pd(); 8]; ROWS];
        for r in 0..ROWS {
            for i in 0..8 {
                _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add((ROWS + r) * PANEL + 8 * i).cast());
            }
            s[r] = start::<MUT>(m(d[r]), load8(c.add(r * PANEL)));
        }
        let threshold = d
            .map(|d| if MUT & CLAMP == 0 { _mm512_subs_epu8(d, t_base) } else { _mm512_sub_epi8(d, t_base) });
        let count = products::<N, MUT>(a, b, &mut s, threshold, ahead);
        let keep = _mm512_castsi512_pd(_mm512_set1_epi64(constants.keep));
        for r in 0..ROWS {
            let sum = if const { low_counts(N, F) } {
                finish::<true>(s[r], m(d[r]), count[r])
            } else {
                finish::<false>(s[r], m(d[r]), count[r])
            };
            // With F = 23 the next block cuts at least as much, and the end of the chain cuts again.
            let cut = F > 23 && MUT & AND_MASK == 0;
            let out = sum.map(|x| if cut { _mm512_and_pd(x, keep) } else { x });
            store8(c.add(r * PANEL), out);
            _mm512_storeu_si512(distance.add(r * PANEL).cast(), pack_distances(out));
        }
    }
}
