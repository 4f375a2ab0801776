//! Fused windows.

use crate::Isa;
use crate::params::{Family, Format, Output, Params};
use crate::tests::harness::assert_exact;

/// Instruction sets with kernels of these families.
const ISAS: &[Isa] = &[Isa::Avx2, Isa::Avx512];

pub fn fp8(a: Format, b: Format, block: usize, floor: Option<i32>) -> Params {
    Params {
        family: Family::FusedWindow { block, fraction: 13, floor },
        a,
        b,
        output: Output::Fp32Rz { precision: 13 },
        k: 32,
    }
}

#[test]
fn hopper_and_ada_fp8() {
    for &isa in ISAS {
        for (a, b) in [
            (Format::E4m3, Format::E4m3),
            (Format::E5m2, Format::E5m2),
            (Format::E4m3, Format::E5m2),
            (Format::E5m2, Format::E4m3),
        ] {
            assert_exact(&fp8(a, b, 32, Some(-133)), isa, 4, 0.6);
            assert_exact(&fp8(a, b, 16, Some(-132)), isa, 4, 0.6);
        }
    }
}

/// A fused window with fp32 output toward zero.
pub fn window(f: Format, block: usize, fraction: i32, floor: Option<i32>, k: usize) -> Params {
    let family = Family::FusedWindow { block, fraction, floor };
    Params { family, a: f, b: f, output: Output::Fp32Rz { precision: 23 }, k }
}

#[test]
fn fp16() {
    for &isa in ISAS {
        assert_exact(&window(Format::Fp16, 16, 25, Some(-133), 16), isa, 8, 0.5);
        assert_exact(&window(Format::Fp16, 8, 24, Some(-132), 16), isa, 8, 0.5);
        assert_exact(&window(Format::Fp16, 4, 23, None, 4), isa, 8, 0.5);
    }
}

#[test]
fn tcgen05_f8f6f4() {
    use Format::{E2m1, E2m3, E3m2, E4m3, E5m2};
    for &isa in ISAS {
        for a in [E5m2, E4m3, E3m2, E2m3, E2m1] {
            for b in [E5m2, E4m3, E3m2, E2m3, E2m1] {
                assert_exact(&Params { b, ..window(a, 32, 25, None, 32) }, isa, 2, 0.5);
            }
        }
    }
}

#[test]
fn bf16_and_tf32() {
    for &isa in ISAS {
        assert_exact(&window(Format::Bf16, 16, 25, Some(-133), 16), isa, 8, 0.5);
        assert_exact(&window(Format::Bf16, 8, 24, Some(-132), 16), isa, 8, 0.5);
        assert_exact(&window(Format::Tf32, 4, 24, Some(-132), 8), isa, 8, 0.5);
        assert_exact(&window(Format::Tf32, 8, 25, None, 8), isa, 8, 0.5);
    }
}

pub fn split(a: Format, b: Format) -> Params {
    let family = Family::SplitWindow { block: 16, fraction: 25, floor: Some(-133), select_bit: 1 };
    Params { family, a, b, output: Output::Fp32Rz { precision: 23 }, k: 32 }
}

#[test]
fn split_fp8() {
    for &isa in ISAS {
        for (a, b) in
            [(Format::E4m3, Format::E4m3), (Format::E5m2, Format::E5m2), (Format::E4m3, Format::E5m2)]
        {
            assert_exact(&split(a, b), isa, 6, 0.9);
        }
    }
}
