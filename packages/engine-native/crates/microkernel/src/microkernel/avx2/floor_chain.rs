//! The loop of the floor chain (`floor_f32`) over a block's terms. It sets the rounding mode, and therefore is one piece of
//! assembly.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::microkernel::Aligned;

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
