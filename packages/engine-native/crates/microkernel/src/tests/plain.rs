//! Chains without windows.

use crate::Isa;
use crate::params::{Family, Format, Output, Params};
use crate::tests::harness::assert_exact;

#[test]
fn integers() {
    for isa in [Isa::Avx2, Isa::Avx512] {
        for a in [Format::S8, Format::U8] {
            for b in [Format::S8, Format::U8] {
                let p = Params { family: Family::Integer, a, b, output: Output::S32Wrap, k: 32 };
                assert_exact(&p, isa, 4, 1.0);
            }
        }
    }
}

#[test]
fn sequential_fma() {
    for isa in [Isa::Avx2, Isa::Avx512] {
        for k in [1, 2, 4] {
            let f = Format::Fp32;
            let p = Params { family: Family::SequentialFma, a: f, b: f, output: Output::Fp32Rne, k };
            assert_exact(&p, isa, 4, 0.7);
        }
    }
}

#[test]
fn pairwise() {
    for isa in [Isa::Avx2, Isa::Avx512] {
        for (f, block) in [(Format::Fp16, 4), (Format::Bf16, 4), (Format::Bf16, 2)] {
            for k in [4, 16] {
                let family = Family::Pairwise { block };
                assert_exact(&Params { family, a: f, b: f, output: Output::Fp32Rne, k }, isa, 4, 0.5);
            }
        }
    }
}

#[test]
fn exact_sums() {
    for isa in [Isa::Avx2, Isa::Avx512] {
        for (f, block) in [(Format::Fp16, 4), (Format::Bf16, 2)] {
            for k in [4, 8] {
                let family = Family::Exact { block };
                assert_exact(&Params { family, a: f, b: f, output: Output::Fp32Rne, k }, isa, 4, 0.5);
            }
        }
    }
}
