//! Windows over products that fp32 holds exactly, summed in int32 lanes: NVIDIA's fused windows (numerics 4.1) and
//! CDNA3's (4.5).
//!
//! A product times 2^(F - E) is cut by conversion to int32. Within one block |sum| < N 2^(F + 2) + 2^(F + 1) <= 2^31.
//! NVIDIA: c is a term, and one conversion of the sum to fp32 toward zero rounds. CDNA3: E is of products alone, and
//! where e_c <= E + 5 the addend of both branches is floor(c) to 2^(E-24): with e_c > E it is a multiple of that, as
//! is the sum, which lies below 2^(E + 7), so that neither 2^(e_c - 32) nor n - 31 cuts. Conversion rounds to nearest.
//!
//! Beyond, `add_units` does both branches in fp64.
//!
//! This holds for LOW <= E <= HIGH: both scales are normal, a product below fp32's normal numbers lies below one unit,
//! however it is rounded, and so does no result; no product or sum reaches 2^128. `window_i32_rare` does the rest.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::gemm::ROW_BLOCK;
use crate::microkernel::avx512::ahead;
use crate::microkernel::avx512::window_i32_rare::rare_row;
use crate::microkernel::exponents::{STEP, UNIT, a_block, b_block, fits, pack_a, pack_b};
use crate::microkernel::{Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

pub const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
pub const ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
/// Rows of one register tile.
pub const ROWS: usize = 2;
pub const LOW: i32 = -100;
pub const HIGH: i32 = 120;
/// CDNA3's addend stays in int32 up to this above E.
const REACH: i16 = 5;
/// And in fp32, in units, up to this.
const FAR: i16 = 100;

/// Faults that tests plant: bits of `MUT`, besides `narrow`'s TAIL.
pub(crate) mod mutation {
    pub const CUT: u32 = 1 << 8;
    pub const ADDEND_CUT: u32 = 1 << 9;
    pub const RESULT: u32 = 1 << 10;
    pub const RANGE: u32 = 1 << 11;
    pub const REACH: u32 = 1 << 12;
    pub const FAR: u32 = 1 << 19;
    pub const FLOOR: u32 = 1 << 13;
    pub const ZERO_CODE: u32 = 1 << 14;
    pub const OVERFLOW: u32 = 1 << 15;
    pub const NORMAL: u32 = 1 << 16;
    pub const TINY: u32 = 1 << 17;
    pub const STAYS: u32 = 1 << 18;
}
use mutation as m;

/// `AMD`: CDNA3's window, F = 24; else a fused window to fp32 toward zero.
pub(crate) struct WindowI32<const N: usize, const F: i32, const AMD: bool, const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
    /// 128 times the least E.
    floor: i16,
    /// K is packed to a multiple of this: on CDNA3 a block of zeros makes +0 of a c of -0.
    multiple: usize,
}

impl<const N: usize, const F: i32, const AMD: bool, const MUT: u32> WindowI32<N, F, AMD, MUT> {
    /// None where the ranges above do not hold.
    /// `k`: terms of one instruction.
    pub fn new(a: Layout, b: Layout, floor: Option<i32>, k: usize) -> Option<Self> {
        let sums = (N as i64) << (F + 2) <= (1 << 31) - (1 << (F + 6));
        let family = if AMD { F == 24 && floor.is_none() } else { (23..=25).contains(&F) };
        let open = floor.is_none_or(|f| (-256..LOW).contains(&f)) && k.is_multiple_of(N);
        let floor = floor.map_or(i16::MIN, |f| (f * i32::from(UNIT)) as i16);
        (fits(&a, &b) && sums && family && open).then_some(WindowI32 { a, b, floor, multiple: k })
    }
}

impl<const N: usize, const F: i32, const AMD: bool, const MUT: u32> Micro for WindowI32<N, F, AMD, MUT> {
    fn name(&self) -> &'static str {
        if AMD { "avx512/cdna3-window-i32" } else { "avx512/fused-window-i32" }
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * k.next_multiple_of(self.multiple) / N * a_block(ROWS, N) / 8
    }

    fn b_len(&self, k: usize) -> usize {
        k.next_multiple_of(self.multiple) / N * b_block(N) / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn pack<const N: usize, const MUT: u32>(
            l: &Layout,
            a: &View<'_>,
            rows: Range<usize>,
            k: usize,
            packed_k: usize,
            out: &mut [u8],
            bad: &mut [u64],
        ) {
            pack_a::<ROWS, N, MUT>(l, a, rows, k, packed_k, out, bad);
        }
        // SAFETY: dispatch made this kernel on a machine with AVX-512.
        unsafe { pack::<N, MUT>(&self.a, a, rows, k, k.next_multiple_of(self.multiple), as_bytes(out), bad) }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn pack<const MUT: u32>(
            l: &Layout,
            b: &View<'_>,
            cols: Range<usize>,
            k: usize,
            packed_k: usize,
            out: &mut [u8],
        ) -> u64 {
            pack_b::<MUT>(l, b, cols, k, packed_k, out)
        }
        // SAFETY: as above.
        unsafe { pack::<MUT>(&self.b, b, cols, k, k.next_multiple_of(self.multiple), as_bytes(out)) }
    }

    /// A NaN is the caller's, for its payload.
    fn addend_ok(&self, word: u32) -> bool {
        word << 1 <= 0xFF00_0000
    }

    fn run(&self, block: Block<'_>) -> bool {
        // SAFETY: dispatch made this kernel on a machine with AVX-512; Kernel::tile's buffers have the lengths that
        // `a_len` and `b_len` name, with chain ranges inside the packed K.
        unsafe { run::<N, F, AMD, MUT>(self, block) };
        false
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn run<const N: usize, const F: i32, const AMD: bool, const MUT: u32>(
    w: &WindowI32<N, F, AMD, MUT>,
    block: Block<'_>,
) {
    let Block { a, b, rows, chain, c, bad, .. } = block;
    let groups = rows.div_ceil(ROWS);
    let mut done = [false; ROW_BLOCK / ROWS];
    for range in chain {
        for k0 in (range.start..range.start + range.len().next_multiple_of(w.multiple)).step_by(N) {
            for g in 0..groups {
                if done[g] {
                    continue;
                }
                // SAFETY: groups * ROWS <= ROW_BLOCK rows exist in `c` and `bad`; the packed buffers hold every block
                // of the chain's ranges.
                unsafe {
                    let pb = b.as_ptr().cast::<u8>().add(k0 / N * b_block(N));
                    let pa = a.as_ptr().cast::<u8>().add((k0 / N * groups + g) * a_block(ROWS, N));
                    let c = c.as_mut_ptr().add(g * ROWS * PANEL).cast();
                    let ahead = ahead(pb, b_block(N), g * N * 64, pa);
                    done[g] = step::<N, F, AMD, MUT>(pa, pb, c, w.floor, ahead, &bad[g * ROWS..][..ROWS]);
                }
            }
        }
    }
}

/// Exponent words of 64 accumulators; -127 for zeros and subnormals.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub fn addend_words(c: [__m512; 4]) -> [__m512i; 2] {
    let field = _mm512_set1_epi16(0x7F80);
    let bias = _mm512_set1_epi16(127 * UNIT);
    core::array::from_fn(|v| {
        let (even, odd) = (_mm512_castps_si512(c[2 * v]), _mm512_castps_si512(c[2 * v + 1]));
        // Select by mask: (mask & y) | (!mask & x).
        let upper = _mm512_set1_epi32(0xFFFF_0000_u32 as i32);
        let words = _mm512_ternarylogic_epi32::<0xD8>(_mm512_srli_epi32::<16>(even), odd, upper);
        _mm512_sub_epi16(_mm512_and_si512(words, field), bias)
    })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn load4(p: *const f32) -> [__m512; 4] {
    // SAFETY: the caller's pointer covers 64 fp32.
    core::array::from_fn(|i| unsafe { _mm512_loadu_ps(p.add(16 * i)) })
}

/// fp32 powers of two from words that hold their exponent fields.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn powers(words: [__m512i; 2]) -> [__m512; 4] {
    let upper = _mm512_set1_epi32(0xFFFF_0000_u32 as i32);
    let [x, y] = words;
    [
        _mm512_slli_epi32::<16>(x),
        _mm512_and_si512(x, upper),
        _mm512_slli_epi32::<16>(y),
        _mm512_and_si512(y, upper),
    ]
    .map(|x| _mm512_castsi512_ps(x))
}

/// CDNA3's sum of both branches to 24 bits, in units of 2^(E - 24): c is floored to a unit, which changes it only where
/// e_c <= E, and the total to 32 bits, which changes it only where it lies at or above 2^(E + 8), as with e_c > E
/// alone. Rounding it to 53 bits first, down, is finer.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn add_units<const MUT: u32>(sum: __m512i, c: __m512) -> __m512 {
    const FLOOR: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    let c = if MUT & m::ADDEND_CUT == 0 { _mm512_roundscale_ps::<FLOOR>(c) } else { c };
    let half = |sum: __m256i, c: __m256| {
        let total = _mm512_add_round_pd::<DOWN>(_mm512_cvtepi32_pd(sum), _mm512_cvtps_pd(c));
        let rest = _mm512_set1_epi64((1 << 21) - 1);
        let bits = _mm512_castpd_si512(total);
        let bits = _mm512_mask_add_epi64(bits, _mm512_movepi64_mask(bits), bits, rest);
        let cut = _mm512_castsi512_pd(_mm512_andnot_si512(rest, bits));
        _mm512_cvtpd_ps(if MUT & m::NORMAL == 0 { cut } else { total })
    };
    let low = half(_mm512_castsi512_si256(sum), _mm512_castps512_ps256(c));
    let high = half(_mm512_extracti64x4_epi64::<1>(sum), _mm512_extractf32x8_ps::<1>(c));
    _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
}

/// One block step of 2 rows by 64 columns; true once no column of either row can change any more.
///
/// # Safety
/// `a` and `b` point at blocks, `c` at 2 x 64 elements.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn step<const N: usize, const F: i32, const AMD: bool, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    c: *mut f32,
    floor: i16,
    ahead: *const u8,
    bad: &[u64],
) -> bool {
    // SAFETY: all offsets below stay inside the ranges named above.
    unsafe {
        let mut e = [[_mm512_set1_epi16(i16::MIN); 2]; ROWS];
        for t in 0..N {
            let at = b.add(t * STEP + 4 * PANEL).cast::<i16>();
            let words: [__m512i; 2] = core::array::from_fn(|v| _mm512_loadu_si512(at.add(32 * v).cast()));
            for r in 0..ROWS {
                let row = _mm512_set1_epi32(a.cast::<i32>().add((ROWS + r) * N + t).read());
                for v in 0..2 {
                    e[r][v] = _mm512_max_epi16(e[r][v], _mm512_adds_epi16(row, words[v]));
                }
            }
        }
        let low = _mm512_set1_epi16(LOW as i16 * UNIT);
        let mut over = _mm512_setzero_si512();
        // Rows with a c out of int32's reach, and whether one is out of fp32's in units.
        let (mut heavy, mut far) = ([false; ROWS], false);
        for r in 0..ROWS {
            let addend = addend_words(load4(c.add(r * PANEL)));
            for v in 0..2 {
                if !AMD {
                    e[r][v] = _mm512_max_epi16(e[r][v], addend[v]);
                }
                over = _mm512_max_epu16(over, _mm512_sub_epi16(e[r][v], low));
            }
            if AMD {
                let beyond = |reach: i16| {
                    let reach = _mm512_set1_epi16(reach * UNIT);
                    let [x, y] = core::array::from_fn(|v| {
                        _mm512_cmpgt_epi16_mask(addend[v], _mm512_adds_epi16(e[r][v], reach))
                    });
                    x | y != 0
                };
                heavy[r] = beyond(REACH) && MUT & m::REACH == 0;
                far |= heavy[r] && beyond(FAR) && MUT & m::FAR == 0;
            }
        }
        let span = _mm512_set1_epi16((HIGH - LOW) as i16 * UNIT);
        if far || _mm512_cmpgt_epu16_mask(over, span) != 0 && MUT & m::RANGE == 0 {
            let mut alive = false;
            for r in 0..ROWS {
                alive |= rare_row::<N, F, AMD, MUT>(a, b, r, c.add(r * PANEL), floor, bad[r]);
            }
            return !alive;
        }
        let field = |x: i32| _mm512_set1_epi16(((127 + x) * i32::from(UNIT)) as i16);
        let (to, from) = (field(F), field(-F));
        let mut s = [[_mm512_setzero_si512(); 4]; ROWS];
        let mut scale = [[_mm512_setzero_ps(); 4]; ROWS];
        for r in 0..ROWS {
            scale[r] = powers(e[r].map(|e| _mm512_sub_epi16(to, e)));
            if heavy[r] {
                continue;
            }
            let c = load4(c.add(r * PANEL));
            for i in 0..4 {
                s[r][i] = match (AMD, MUT & m::ADDEND_CUT != 0) {
                    (true, false) => {
                        let c = _mm512_mul_round_ps::<DOWN>(c[i], scale[r][i]);
                        _mm512_cvt_roundps_epi32::<DOWN>(c)
                    }
                    (true, true) | (false, false) => _mm512_cvttps_epi32(_mm512_mul_ps(c[i], scale[r][i])),
                    (false, true) => _mm512_cvtps_epi32(_mm512_mul_ps(c[i], scale[r][i])),
                };
            }
        }
        for t in 0..N {
            let v = load4(b.add(t * STEP).cast());
            _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(a_block(ROWS, N) + t * 64).cast());
            _mm_prefetch::<_MM_HINT_T1>(ahead.wrapping_add(t * 64).cast());
            for r in 0..ROWS {
                let x = _mm512_set1_ps(a.cast::<f32>().add(r * N + t).read());
                for i in 0..4 {
                    let p = _mm512_mul_ps(_mm512_mul_ps(x, v[i]), scale[r][i]);
                    let p = if MUT & m::CUT == 0 { _mm512_cvttps_epi32(p) } else { _mm512_cvtps_epi32(p) };
                    s[r][i] = _mm512_add_epi32(s[r][i], p);
                }
            }
        }
        for r in 0..ROWS {
            let p = c.add(r * PANEL);
            let unit = powers(e[r].map(|e| _mm512_add_epi16(from, e)));
            for i in 0..4 {
                if heavy[r] {
                    let c = _mm512_loadu_ps(p.add(16 * i));
                    let units = _mm512_mul_round_ps::<DOWN>(c, scale[r][i]);
                    let sum = add_units::<MUT>(s[r][i], units);
                    // No result but an exact zero is a zero: it is +0.
                    let d = _mm512_fmadd_ps(sum, unit[i], _mm512_setzero_ps());
                    _mm512_storeu_ps(p.add(16 * i), d);
                    continue;
                }
                let rounded = if AMD || MUT & m::RESULT != 0 {
                    _mm512_cvtepi32_ps(s[r][i])
                } else {
                    _mm512_cvt_roundepi32_ps::<ZERO>(s[r][i])
                };
                _mm512_storeu_ps(p.add(16 * i), _mm512_mul_ps(rounded, unit[i]));
            }
        }
        false
    }
}
