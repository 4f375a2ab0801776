//! AMD's families.

use crate::Isa;
use crate::params::{Family, Format, Output, Params};
use crate::tests::harness::assert_exact;

pub fn cdna3(f: Format, family: Family, k: usize) -> Params {
    Params { family, a: f, b: f, output: Output::Fp32Rne, k }
}

#[test]
fn cdna3_windows() {
    for (f, block, k) in [
        (Format::Fp16, 8, 16),
        (Format::Bf16, 8, 16),
        (Format::Bf16, 4, 4),
        (Format::Fp16, 4, 4),
        (Format::Tf32, 4, 8),
        (Format::Tf32, 4, 4),
    ] {
        assert_exact(&cdna3(f, Family::Cdna3Window { block }, k), Isa::Avx512, 8, 0.8);
    }
}

#[test]
fn cdna3_fp8() {
    for a in [Format::E4m3Fnuz, Format::E5m2Fnuz] {
        for b in [Format::E4m3Fnuz, Format::E5m2Fnuz] {
            let p = Params { b, ..cdna3(a, Family::Cdna3OddEven, 32) };
            assert_exact(&p, Isa::Avx512, 4, 0.5);
        }
    }
}
