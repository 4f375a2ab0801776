//! Fused windows of 23 to 25 fraction bits over bf16 and tf32, on the fp64 floor chain; codes as in `wide`.
//!
//! Exponents are kept as M's top words, (E + 52 - F + 1023) * 16 + 8. The common path holds for F - 149 <= E <= 121: the
//! quantum is at least fp32's smallest subnormal, so clearing bits beyond 24 rounds subnormals too, and the sum stays
//! below 2^128. Outside, or where a distance is not exact, `repair` sorts the columns: an infinite c or result stays
//! infinite, what cannot be told is flagged.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::gemm::ROW_BLOCK;
use crate::microkernel::avx512::ahead;
use crate::microkernel::avx512::chain_f64::{
    ROWS, distances, finish, load8, low_counts, narrow_to_f32, origins, products, spread, start, store8,
    widen,
};
use crate::microkernel::avx512::window_wide_rare::{infinities, repair};
use crate::microkernel::wide::{self, FAR, HEAD, a_block, b_block, column, word_index, words_at};
use crate::microkernel::{Aligned, Block, Micro, as_bytes};
use crate::pack::Layout;
use crate::words::View;

/// Largest E whose sums cannot reach 2^128 (N <= 16: below 2^(E + 7)).
const HIGH: i32 = 121;

/// Faults that tests plant: bits of `MUT`, besides those of `narrow`.
pub(crate) mod mutation {
    pub const OVERFLOW: u32 = 1 << 8;
    pub const LOW: u32 = 1 << 9;
    pub const NONE: u32 = 1 << 10;
    pub const FAR: u32 = 1 << 11;
}

pub(crate) struct WindowWide<const N: usize, const F: i32, const MUT: u32 = 0> {
    a: Layout,
    b: Layout,
    precision: u32,
}

impl<const N: usize, const F: i32, const MUT: u32> WindowWide<N, F, MUT> {
    /// None where the ranges above do not hold.
    pub fn new(a: Layout, b: Layout, floor: Option<i32>, precision: u32) -> Option<Self> {
        let fits = |l: &Layout| l.exponent_bits == 8 && l.fraction_bits <= 10;
        let window = (23..=25).contains(&F) && N <= 16 && precision == 23;
        // Where a floor could bind, E is out of the common path and flagged.
        let open = floor.is_none_or(|f| f <= F - 149);
        (fits(&a) && fits(&b) && window && open).then_some(WindowWide { a, b, precision })
    }
}

impl<const N: usize, const F: i32, const MUT: u32> Micro for WindowWide<N, F, MUT> {
    fn name(&self) -> &'static str {
        "avx512/fused-window-wide"
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * k.div_ceil(N) * a_block(N) / 8
    }

    fn b_len(&self, k: usize) -> usize {
        k.div_ceil(N) * b_block(N) / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        // SAFETY: dispatch made this kernel on a machine with AVX-512.
        unsafe { pack_a::<N>(&self.a, 52 - F + 1023, a, rows, k, as_bytes(out), bad) }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        // SAFETY: as above.
        unsafe { pack_b::<N>(&self.b, F + 1, b, cols, k, as_bytes(out)) }
    }

    fn addend_ok(&self, word: u32) -> bool {
        word << 1 <= 0xFF00_0000
    }

    fn run(&self, block: Block<'_>) -> bool {
        // SAFETY: dispatch made this kernel on a machine with AVX-512; Kernel::tile's buffers have the lengths that
        // `a_len` and `b_len` name, with chain ranges inside the packed K.
        unsafe { run::<N, F, MUT>(self, block) };
        false
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn pack_a<const N: usize>(
    layout: &Layout,
    base: i32,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    wide::pack_a::<N>(layout, base, a, rows, k, out, bad);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn pack_b<const N: usize>(
    layout: &Layout,
    reach: i32,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    out: &mut [u8],
) -> u64 {
    wide::pack_b::<N>(layout, reach, b, cols, k, out)
}

pub struct Constants {
    /// Top word of E = 0 for an exponent field of 0.
    pub field: i16,
    /// Top word of the least E of the common path, and what the largest exceeds it by.
    pub low: i16,
    span: u16,
    keep: i64,
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn run<const N: usize, const F: i32, const MUT: u32>(w: &WindowWide<N, F, MUT>, block: Block<'_>) {
    let Block { a, b, rows, chain, c, bad, .. } = block;
    let pairs = rows.div_ceil(ROWS);
    let mut tile = Aligned([0f64; ROW_BLOCK * PANEL]);
    let mut exponents = Aligned([0u16; ROW_BLOCK * PANEL]);
    let word = |e: i32| ((e + 52 - F + 1023) << 4 | 8) as i16;
    let low = F - 149;
    let constants = Constants {
        field: word(-1023),
        low: word(low),
        span: ((HIGH - low) << 4) as u16,
        keep: -1 << (52 - w.precision),
    };
    let mut dead = [[0u32; 2]; ROW_BLOCK];
    let mut done = [false; ROW_BLOCK / ROWS];
    // SAFETY: pairs * ROWS <= ROW_BLOCK rows exist in `c`, `bad`, `tile` and `exponents`; the packed buffers hold every
    // block of the chain's ranges.
    unsafe {
        for r in 0..pairs * ROWS {
            let at = r * PANEL;
            let c = widen(c.as_ptr().add(at).cast(), 0);
            store8(tile.0.as_mut_ptr().add(at), c);
            store_words(exponents.0.as_mut_ptr().add(at), top_words(c, constants.field));
            for j in bits(bad[r]) {
                let i = word_index(j);
                dead[r][i / 32] |= 1 << (i % 32);
            }
        }
        for range in chain {
            for k0 in range.clone().step_by(N) {
                let pb = b.as_ptr().cast::<u8>().add(k0 / N * b_block(N));
                for pair in 0..pairs {
                    if done[pair] {
                        continue;
                    }
                    let pa = a.as_ptr().cast::<u8>().add((k0 / N * pairs + pair) * a_block(N));
                    let at = pair * ROWS * PANEL;
                    let (c, e) = (tile.0.as_mut_ptr().add(at), exponents.0.as_mut_ptr().add(at));
                    let ahead = ahead(pb, b_block(N), pair * N * 64, pa);
                    let dead = &mut dead[pair * ROWS..][..ROWS];
                    done[pair] = step::<N, F, MUT>(pa, pb, c, e, &constants, ahead, dead);
                }
            }
        }
        for r in 0..pairs * ROWS {
            let at = r * PANEL;
            let c = c.as_mut_ptr().add(at).cast();
            narrow_to_f32(load8(tile.0.as_ptr().add(at)), 0, constants.keep, c);
            for half in 0..2 {
                for i in bits(u64::from(dead[r][half])) {
                    bad[r] |= 1 << column(half, i);
                }
            }
        }
    }
}

/// Positions of the set bits.
fn bits(mut x: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let i = x.trailing_zeros() as usize;
        x &= x.wrapping_sub(1);
        (i < 64).then_some(i)
    })
}

/// The top words that the exponent fields of 64 fp64 give, for even and odd bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn top_words(x: [__m512d; 8], field: i16) -> [__m512i; 2] {
    let x = x.map(|x| _mm512_castpd_si512(x));
    let word = |i: u32| _mm512_set1_epi64((0xFFFF_u64 << (16 * i)) as i64);
    core::array::from_fn(|odd| {
        // Select by mask: (mask & y) | (!mask & x).
        let out = _mm512_srli_epi64::<48>(x[odd]);
        let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_srli_epi64::<32>(x[2 + odd]), word(1));
        let out = _mm512_ternarylogic_epi64::<0xD8>(out, _mm512_srli_epi64::<16>(x[4 + odd]), word(2));
        let out = _mm512_ternarylogic_epi64::<0xD8>(out, x[6 + odd], word(3));
        let exponent = _mm512_and_si512(out, _mm512_set1_epi16(0x7FF0));
        _mm512_add_epi16(exponent, _mm512_set1_epi16(field))
    })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub unsafe fn load_words(p: *const u16) -> [__m512i; 2] {
    // SAFETY: the caller's pointer covers 64 words.
    unsafe { [_mm512_loadu_si512(p.cast()), _mm512_loadu_si512(p.add(32).cast())] }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
unsafe fn store_words(p: *mut u16, x: [__m512i; 2]) {
    // SAFETY: the caller's pointer covers 64 words.
    unsafe {
        _mm512_storeu_si512(p.cast(), x[0]);
        _mm512_storeu_si512(p.add(32).cast(), x[1]);
    }
}

/// One block step of 2 rows by 64 columns; true once no column of either row can change any more.
///
/// # Safety
/// `a` and `b` point at blocks, `c` and `exponents` at 2 x 64 elements.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
unsafe fn step<const N: usize, const F: i32, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    c: *mut f64,
    exponents: *mut u16,
    constants: &Constants,
    ahead: *const u8,
    dead: &mut [[u32; 2]],
) -> bool {
    // SAFETY: all offsets stay inside the ranges named above.
    unsafe {
        let items = a.add(HEAD);
        let d = distances::<N, true>(items, b, [_mm512_set1_epi8(-1); ROWS]);
        let columns = load_words(b.add(words_at(N)).cast());
        let mut words = [columns; ROWS];
        let mut threshold = d;
        let low = _mm512_set1_epi16(constants.low);
        let mut over = _mm512_setzero_si512();
        for r in 0..ROWS {
            let row = _mm512_set1_epi32(a.add(4 * r).cast::<i32>().read());
            let sum = columns.map(|x| _mm512_add_epi16(x, row));
            let addend = load_words(exponents.add(r * PANEL));
            let near = spread(d[r]);
            words[r] =
                core::array::from_fn(|i| _mm512_max_epu16(_mm512_sub_epi16(sum[i], near[i]), addend[i]));
            threshold[r] = join(sum, words[r]);
            for i in 0..2 {
                over = _mm512_max_epu16(over, _mm512_sub_epi16(words[r][i], low));
            }
        }
        let outside = _mm512_cmpgt_epu16_mask(over, _mm512_set1_epi16(constants.span as i16));
        let far = _mm512_cmpge_epu8_mask(_mm512_max_epu8(d[0], d[1]), _mm512_set1_epi8(FAR as i8));
        let rare = u64::from(outside) | far != 0;
        if rare {
            let mut alive = false;
            for r in 0..ROWS {
                let e = exponents.add(r * PANEL);
                let (w, t, live) = repair::<N, MUT>(a, b, r, d[r], words[r], e, constants, &mut dead[r]);
                (words[r], threshold[r]) = (w, t);
                alive |= live;
            }
            if !alive {
                return true;
            }
        }
        let mut s = [[_mm512_setzero_pd(); 8]; ROWS];
        for r in 0..ROWS {
            s[r] = start::<MUT>(origins(words[r]), load8(c.add(r * PANEL)));
        }
        let count = products::<N, MUT>(items, b, &mut s, threshold, ahead);
        let keep = _mm512_castsi512_pd(_mm512_set1_epi64(constants.keep));
        for r in 0..ROWS {
            let sum = if const { low_counts(N, F) } {
                finish::<true>(s[r], origins(words[r]), count[r])
            } else {
                finish::<false>(s[r], origins(words[r]), count[r])
            };
            let mut out = sum.map(|x| _mm512_and_pd(x, keep));
            if rare && MUT & mutation::OVERFLOW == 0 {
                out = infinities(out, load8(c.add(r * PANEL)));
            }
            store8(c.add(r * PANEL), out);
            store_words(exponents.add(r * PANEL), top_words(out, constants.field));
        }
        false
    }
}

/// T + 1 of 64 columns as bytes: the saturated difference of `sum` and `words`, over 16.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub fn join(sum: [__m512i; 2], words: [__m512i; 2]) -> __m512i {
    let [e, o] = core::array::from_fn(|i| _mm512_subs_epu16(sum[i], words[i]));
    _mm512_or_si512(_mm512_srli_epi16::<4>(e), _mm512_slli_epi16::<4>(o))
}
