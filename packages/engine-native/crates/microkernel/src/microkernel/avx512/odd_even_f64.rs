//! CDNA3's FP8 (numerics 4.6): two windows of 8 products, even and odd k apart, on the fp64 chain.
//!
//! The products' sum S is exact in fp64, a multiple of 2^(E - 24). With e_c <= E the addend is floored to that quantum
//! through M; else S + c is floored to 32 significant bits: to fp64's 53 by rounding down, then by adding 2^21 - 1 below
//! them where it is negative and clearing. (Cutting S to 2^(e_c - 32) first changes nothing: it cuts only where
//! e_c > E + 8, and there |S| < 2^(E + 6), so that the sum's exponent is e_c - 1 or more and its own cut as coarse.)
//! Conversion to fp32 rounds to
//! nearest even (the default, which nothing here changes). Without a product S = 0 and the formal E lies at or below
//! -60, the least accepted e_c; results are multiples of 2^-54, so c stays in range.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::microkernel::avx512::ahead;
use crate::microkernel::avx512::chain_f64::{
    DOWN, ROWS, V, distances, finish, narrow_to_f32, origins, products, spread, widen,
};
use crate::microkernel::avx512::window_f64::{Constants, SCALE, pack_a, pack_b};
use crate::microkernel::narrow::{C_LEAST, a_block, addend_ok, b_block, fits, packed_k};
use crate::microkernel::{Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

/// Terms of one window.
const N: usize = 8;
const F: i32 = 24;

/// Faults that tests plant: bits of `MUT`, besides those of `narrow`.
pub(crate) mod mutation {
    pub const NORMAL: u32 = 1 << 13;
    pub const REACH: u32 = 1 << 14;
    pub const MERGE: u32 = 1 << 15;
}

pub(crate) struct OddEvenF64<const MUT: u32> {
    a: Layout,
    b: Layout,
}

impl<const MUT: u32> OddEvenF64<MUT> {
    /// None where a format is not narrow.
    pub fn new(a: Layout, b: Layout) -> Option<Self> {
        (fits(&a) && fits(&b) && -30 - F >= C_LEAST).then_some(OddEvenF64 { a, b })
    }
}

impl<const MUT: u32> Micro for OddEvenF64<MUT> {
    fn name(&self) -> &'static str {
        "avx512/cdna3-odd-even-f64"
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
        addend_ok(word)
    }

    fn run(&self, block: Block<'_>) -> bool {
        // SAFETY: dispatch made this kernel on a machine with AVX-512; Kernel::tile's buffers have the lengths that
        // `a_len` and `b_len` name, with chain ranges inside the packed K.
        unsafe { run::<MUT>(self, block) };
        false
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn run<const MUT: u32>(w: &OddEvenF64<MUT>, block: Block<'_>) {
    let Block { a, b, rows, chain, c, .. } = block;
    let pairs = rows.div_ceil(ROWS);
    let constants = Constants::new(F, w.a.emax() + w.b.emax(), 23);
    // SAFETY: pairs * ROWS <= ROW_BLOCK rows exist in `c`; the packed buffers hold every window of the chain's ranges.
    unsafe {
        for range in chain {
            for k0 in range.clone().step_by(N * 2) {
                for pair in 0..pairs {
                    let part = |half: usize| {
                        let block = k0 / N + half;
                        let pb = b.as_ptr().cast::<u8>().add(block * b_block(V, N));
                        let pa = a.as_ptr().cast::<u8>().add((block * pairs + pair) * a_block(V, ROWS, N));
                        let ahead = ahead(pb, 2 * b_block(V, N), (2 * pair + half) * N * 64, pa);
                        window::<MUT>(pa, pb, &constants, ahead)
                    };
                    let (mut sums, mut m) = part(0);
                    let (other, n) = part(1);
                    for r in 0..ROWS {
                        for i in 0..8 {
                            let top = _mm512_max_pd(m[r][i], n[r][i]);
                            let merge = |x| {
                                if MUT & mutation::MERGE == 0 {
                                    _mm512_sub_pd(_mm512_add_round_pd::<DOWN>(top, x), top)
                                } else {
                                    x
                                }
                            };
                            sums[r][i] = _mm512_add_pd(merge(sums[r][i]), merge(other[r][i]));
                            m[r][i] = top;
                        }
                    }
                    for r in 0..ROWS {
                        let c: *mut f32 = c.as_mut_ptr().add((pair * ROWS + r) * PANEL).cast();
                        let addend = widen(c, SCALE);
                        let out = core::array::from_fn(|i| add::<MUT>(sums[r][i], m[r][i], addend[i]));
                        narrow_to_f32(out, SCALE, -1, c);
                    }
                }
            }
        }
    }
}

/// Sums of the products of one window, and its origins.
///
/// # Safety
/// `a` and `b` point at blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
unsafe fn window<const MUT: u32>(
    a: *const u8,
    b: *const u8,
    constants: &Constants,
    ahead: *const u8,
) -> ([[__m512d; 8]; ROWS], [[__m512d; 8]; ROWS]) {
    // SAFETY: the caller's contract.
    unsafe {
        let d = distances::<N, false>(a, b, [_mm512_set1_epi8(-1); ROWS]);
        let m_base = _mm512_set1_epi16(constants.m_base);
        let m = d.map(|d| origins(spread(d).map(|x| _mm512_sub_epi16(m_base, x))));
        let threshold = d.map(|d| _mm512_subs_epu8(d, _mm512_set1_epi8(constants.t_base)));
        let mut s = m;
        let count = products::<N, MUT>(a, b, &mut s, threshold, ahead);
        (core::array::from_fn(|r| finish::<true>(s[r], m[r], count[r])), m)
    }
}

/// fp32's A of `sum` and `c`; `m` has the exponent E + 52 - F.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn add<const MUT: u32>(sum: __m512d, m: __m512d, c: __m512d) -> __m512d {
    let bits = |x| _mm512_castpd_si512(x);
    let float = |x| _mm512_castsi512_pd(x);
    let field = _mm512_set1_epi64(0x7FF << 52);
    let exponent = |e: i64| _mm512_set1_epi64(e << 52);
    let magnitude = _mm512_abs_pd(c);
    let top = _mm512_and_si512(bits(m), field);
    // 2^(E + 1): c dominates from there on.
    let bound = _mm512_sub_epi64(top, exponent(i64::from(52 - F - 1)));
    let dominates = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(magnitude, float(bound));

    let floored = _mm512_sub_pd(_mm512_add_round_pd::<DOWN>(m, c), m);
    let floored = if MUT & mutation::REACH == 0 {
        // E - e_c > 25: |c| < 2^(E - 25).
        let reach = float(_mm512_sub_epi64(bound, exponent(26)));
        let near = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(magnitude, reach);
        _mm512_maskz_mov_pd(near, floored)
    } else {
        floored
    };
    let below = _mm512_add_pd(sum, floored);

    let total = bits(_mm512_add_round_pd::<DOWN>(sum, c));
    let rest = _mm512_set1_epi64((1 << 21) - 1);
    let negative = _mm512_movepi64_mask(total);
    let total = _mm512_mask_add_epi64(total, negative, total, rest);
    let above = if MUT & mutation::NORMAL == 0 { _mm512_andnot_si512(rest, total) } else { total };
    _mm512_mask_mov_pd(below, dominates, float(above))
}
