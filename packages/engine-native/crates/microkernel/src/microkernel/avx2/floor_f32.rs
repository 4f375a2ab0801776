//! The floor chain in fp32: packing, and the loop over a block's terms, which sets the rounding mode and therefore is one
//! piece of assembly; 4 rows by 64 columns.
//!
//! S starts at M whose last place is the quantum 2^(E-F); S = fma(a, b, S), rounded down, adds floor(a * b). A negative
//! product that is not a multiple of the quantum was cut one quantum too low, and is counted: codes hold the sign in bit 7
//! and low(x) - least below, low the exponent of the lowest set bit, least the smallest of the format. Their sum as a
//! signed byte is below T - 128, T = E - F - both leasts, iff the product is negative and inexact. T is at most ZERO: a
//! zero's code counts as no less, nor do two of them carry into the sign.
//!
//! A block of A holds per term, of 4 rows each: values, codes x 4, distances x 4; a block of B 64 values, 64 distances, 64
//! codes. Distances and the order of bytes are `narrow`'s.

use core::arch::asm;
use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::lanes::{Lanes, gather};
use crate::microkernel::Aligned;
use crate::microkernel::avx2::exact_path::Codes;
use crate::microkernel::avx2::narrow::{ROWS, addend_distances};
use crate::microkernel::narrow::mutation::{TAIL, ZERO_CODE};
use crate::microkernel::narrow::{SHARE, TOP, ZERO, put, put_words, transpose};
use crate::pack::Layout;
use crate::words::View;

/// Code of a zero's lowest bit: above the sum of any two others, and of such formats alone.
pub const ZERO_LOW: i32 = 63;
/// Bytes of a term of A and of B.
pub const A_STEP: usize = 48;
pub const B_STEP: usize = 384;

pub const fn a_block(n: usize) -> usize {
    n * A_STEP
}

pub const fn b_block(n: usize) -> usize {
    n * B_STEP
}

/// Exponent of the format's smallest number.
pub fn least(l: &Layout) -> i32 {
    l.emin() - l.fraction_bits as i32
}

/// What the codes and distances of A, or of B beside `other`, mean.
pub fn row_codes(l: &Layout) -> Codes {
    Codes { least: least(l), nearest: SHARE + l.emax() }
}

pub fn column_codes(l: &Layout, other: &Layout) -> Codes {
    Codes { least: least(l), nearest: TOP - SHARE - other.emax() }
}

/// Whether codes of both formats add up as above.
pub fn codes_fit(a: &Layout, b: &Layout) -> bool {
    a.emax() - least(a) + b.emax() - least(b) < ZERO_LOW
}

#[inline(always)]
fn codes<const MUT: u32>(l: &Layout, lanes: &Lanes) -> [u32; PANEL] {
    let zero = if MUT & ZERO_CODE == 0 { ZERO_LOW } else { 0 };
    core::array::from_fn(|j| {
        let low = if lanes.nonzero[j] != 0 { lanes.low[j] - least(l) } else { zero };
        low as u32 | lanes.negative[j] << 7
    })
}

#[target_feature(enable = "avx2,fma")]
pub fn pack_a<const N: usize, const MUT: u32>(
    layout: &Layout,
    a: &View<'_>,
    rows: Range<usize>,
    k: usize,
    out: &mut [u8],
    bad: &mut [u64],
) {
    let terms = k.next_multiple_of(N);
    let groups = rows.len().div_ceil(ROWS);
    let top = layout.emax();
    let mut lanes = Lanes::default();
    for local in 0..groups * ROWS {
        let (group, r) = (local / ROWS, local % ROWS);
        for k0 in (0..terms).step_by(PANEL) {
            let live = if local < rows.len() { k.saturating_sub(k0).min(PANEL) } else { 0 };
            let mut words = gather(a, rows.start + local, k0, live);
            if MUT & TAIL != 0 {
                words[live..].fill(0x38);
            }
            lanes.decode(layout, 0, &words);
            if lanes.bad != 0 {
                bad[local] = u64::MAX;
            }
            let codes = codes::<MUT>(layout, &lanes);
            for j in 0..PANEL.min(terms - k0) {
                let d = if lanes.nonzero[j] != 0 { SHARE + top - lanes.e[j] } else { ZERO } as u32;
                let at = ((k0 + j) / N * groups + group) * a_block(N) + (k0 + j) % N * A_STEP + 4 * r;
                put::<4>(&mut out[at..at + 4], &lanes.value[j..=j]);
                put_words(&mut out[at + 16..at + 20], &[codes[j].wrapping_mul(0x0101_0101)]);
                put_words(&mut out[at + 32..at + 36], &[d.wrapping_mul(0x0101_0101)]);
            }
        }
    }
}

/// Returns the columns with a non-finite word.
#[target_feature(enable = "avx2,fma")]
pub fn pack_b<const N: usize, const MUT: u32>(
    layout_a: &Layout,
    layout: &Layout,
    b: &View<'_>,
    cols: Range<usize>,
    k: usize,
    out: &mut [u8],
) -> u64 {
    // Completes A's distance to TOP - (e_a + e_b).
    let base = column_codes(layout, layout_a).nearest;
    let mut lanes = Lanes::default();
    let mut bad = 0;
    for (row, out) in out.chunks_exact_mut(B_STEP).take(k.next_multiple_of(N)).enumerate() {
        let live = if row < k { cols.len() } else { 0 };
        let mut words = gather(b, row, cols.start, live);
        if MUT & TAIL != 0 {
            words[live..].fill(0x38);
        }
        lanes.decode(layout, 0, &words);
        bad |= lanes.bad;
        let (values, bytes) = out.split_at_mut(4 * PANEL);
        let (distances, code_bytes) = bytes.split_at_mut(PANEL);
        put::<4>(values, &lanes.value);
        let d =
            core::array::from_fn(|j| (if lanes.nonzero[j] != 0 { base - lanes.e[j] } else { ZERO }) as u32);
        transpose::<4>(&d, distances);
        transpose::<4>(&codes::<MUT>(layout, &lanes), code_bytes);
    }
    bad
}

/// Distance bytes of the block step: the least of the products' and c's.
///
/// # Safety
/// `a` and `b` point at blocks of N terms, `c` at 4 x 64 accumulators.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn distances<const N: usize>(a: *const u8, b: *const u8, c: *const f32) -> [[__m256i; 2]; ROWS] {
    // SAFETY: the offsets stay inside the ranges named above.
    unsafe {
        let mut d = addend_distances(c);
        for t in 0..N {
            // The next rows' block of A, and some of their accumulators.
            _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(a_block(N) + t * A_STEP).cast());
            _mm_prefetch::<_MM_HINT_T0>(c.wrapping_add(ROWS * PANEL + t % 16 * 16).cast());
            let db: [__m256i; 2] = core::array::from_fn(|half| {
                _mm256_loadu_si256(b.add(t * B_STEP + 4 * PANEL + 32 * half).cast())
            });
            for r in 0..ROWS {
                let da = _mm256_set1_epi32(a.add(t * A_STEP + 32 + 4 * r).cast::<i32>().read());
                for half in 0..2 {
                    d[r][half] = _mm256_min_epu8(d[r][half], _mm256_add_epi8(da, db[half]));
                }
            }
        }
        d
    }
}

/// Of 2 rows (first index) by 32 columns (16 i + 8 half, 8 each; second index), 2 x 4 vectors each; and their thresholds
/// T - 128, then counts.
pub struct Chain {
    pub s: Aligned<[[[[__m256; 4]; 2]; 2]; 2]>,
    pub t: Aligned<[[[__m256i; 2]; 2]; 2]>,
}

/// One term: 2 rows at `a` + 8 * pair, 4 vectors of 8 columns and 32 codes at `b` + 32 * half.
macro_rules! term {
    ($u:literal, $pair:literal, $half:literal) => {
        concat!(
            "vbroadcastss ymm8, [{a} + 48*",
            $u,
            " + 8*",
            $pair,
            "]\n",
            "vbroadcastss ymm9, [{a} + 48*",
            $u,
            " + 8*",
            $pair,
            " + 4]\n",
            "vmovups ymm10, [{b} + 384*",
            $u,
            " + 32*",
            $half,
            "]\n",
            "vfmadd231ps ymm0, ymm8, ymm10\n",
            "vfmadd231ps ymm4, ymm9, ymm10\n",
            "vmovups ymm10, [{b} + 384*",
            $u,
            " + 32*",
            $half,
            " + 64]\n",
            "vfmadd231ps ymm1, ymm8, ymm10\n",
            "vfmadd231ps ymm5, ymm9, ymm10\n",
            "vpbroadcastd ymm15, [{a} + 48*",
            $u,
            " + 8*",
            $pair,
            " + 16]\n",
            "vpaddb ymm15, ymm15, [{b} + 384*",
            $u,
            " + 32*",
            $half,
            " + 320]\n",
            "vpcmpgtb ymm15, ymm13, ymm15\n",
            "vpsubb ymm11, ymm11, ymm15\n",
            "vmovups ymm10, [{b} + 384*",
            $u,
            " + 32*",
            $half,
            " + 128]\n",
            "vfmadd231ps ymm2, ymm8, ymm10\n",
            "vfmadd231ps ymm6, ymm9, ymm10\n",
            "vpbroadcastd ymm15, [{a} + 48*",
            $u,
            " + 8*",
            $pair,
            " + 20]\n",
            "vpaddb ymm15, ymm15, [{b} + 384*",
            $u,
            " + 32*",
            $half,
            " + 320]\n",
            "vpcmpgtb ymm15, ymm14, ymm15\n",
            "vpsubb ymm12, ymm12, ymm15\n",
            "vmovups ymm10, [{b} + 384*",
            $u,
            " + 32*",
            $half,
            " + 192]\n",
            "vfmadd231ps ymm3, ymm8, ymm10\n",
            "vfmadd231ps ymm7, ymm9, ymm10\n",
        )
    };
}

/// All terms of 2 rows by 32 columns, the `$at`-th of four.
macro_rules! chain {
    ($at:literal, $pair:literal, $half:literal) => {
        concat!(
            "vmovaps ymm0, [{s} + 256*",
            $at,
            "]\n",
            "vmovaps ymm1, [{s} + 256*",
            $at,
            " + 32]\n",
            "vmovaps ymm2, [{s} + 256*",
            $at,
            " + 64]\n",
            "vmovaps ymm3, [{s} + 256*",
            $at,
            " + 96]\n",
            "vmovaps ymm4, [{s} + 256*",
            $at,
            " + 128]\n",
            "vmovaps ymm5, [{s} + 256*",
            $at,
            " + 160]\n",
            "vmovaps ymm6, [{s} + 256*",
            $at,
            " + 192]\n",
            "vmovaps ymm7, [{s} + 256*",
            $at,
            " + 224]\n",
            "vmovdqa ymm13, [{t} + 64*",
            $at,
            "]\n",
            "vmovdqa ymm14, [{t} + 64*",
            $at,
            " + 32]\n",
            "vpxor xmm11, xmm11, xmm11\n",
            "vpxor xmm12, xmm12, xmm12\n",
            "mov {i:e}, {n} / 4\n",
            "2:\n",
            term!(0, $pair, $half),
            term!(1, $pair, $half),
            term!(2, $pair, $half),
            term!(3, $pair, $half),
            "add {a}, 192\n",
            "add {b}, 1536\n",
            "dec {i:e}\n",
            "jnz 2b\n",
            "sub {a}, 48 * {n}\n",
            "sub {b}, 384 * {n}\n",
            "vmovaps [{s} + 256*",
            $at,
            "], ymm0\n",
            "vmovaps [{s} + 256*",
            $at,
            " + 32], ymm1\n",
            "vmovaps [{s} + 256*",
            $at,
            " + 64], ymm2\n",
            "vmovaps [{s} + 256*",
            $at,
            " + 96], ymm3\n",
            "vmovaps [{s} + 256*",
            $at,
            " + 128], ymm4\n",
            "vmovaps [{s} + 256*",
            $at,
            " + 160], ymm5\n",
            "vmovaps [{s} + 256*",
            $at,
            " + 192], ymm6\n",
            "vmovaps [{s} + 256*",
            $at,
            " + 224], ymm7\n",
            "vmovdqa [{t} + 64*",
            $at,
            "], ymm11\n",
            "vmovdqa [{t} + 64*",
            $at,
            " + 32], ymm12\n",
        )
    };
}

/// Adds the floors of all products to `chain.s`; `chain.t` becomes the counts.
///
/// # Safety
/// `a` and `b` point at blocks of N terms, N a multiple of 4; AVX2 and FMA present.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub unsafe fn products<const N: usize>(a: *const u8, b: *const u8, chain: &mut Chain) {
    const { assert!(N.is_multiple_of(4)) };
    // All exceptions masked, rounding down.
    let down = 0x3F80_u32;
    let mut saved = 0u32;
    // SAFETY: reads N terms of both blocks and the chain, writes the chain; MXCSR is what it was before, flags included.
    unsafe {
        asm!(
            "vstmxcsr [{saved}]",
            "vldmxcsr [{down}]",
            chain!(0, 0, 0),
            chain!(1, 0, 1),
            chain!(2, 1, 0),
            chain!(3, 1, 1),
            "vldmxcsr [{saved}]",
            a = inout(reg) a => _,
            b = inout(reg) b => _,
            s = in(reg) &raw mut chain.s,
            t = in(reg) &raw mut chain.t,
            saved = in(reg) &raw mut saved,
            down = in(reg) &raw const down,
            i = out(reg) _,
            n = const N,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack)
        );
    }
}
