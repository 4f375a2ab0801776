//! Fused windows.

use crate::Isa;
use crate::params::{Family, Format, Output, Params};
use crate::tests::harness::assert_exact;

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
    for isa in [Isa::Avx512] {
        for (a, b) in [
            (Format::E4m3, Format::E4m3),
            (Format::E5m2, Format::E5m2),
            (Format::E4m3, Format::E5m2),
            (Format::E5m2, Format::E4m3),
        ] {
            assert_exact(&fp8(a, b, 32, Some(-133)), isa, 12, 0.6);
            assert_exact(&fp8(a, b, 16, Some(-132)), isa, 12, 0.6);
        }
    }
}
