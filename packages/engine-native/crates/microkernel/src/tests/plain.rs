//! Chains without windows.

use crate::Isa;
use crate::gemm::Shape;
use crate::params::{Family, Format, Output, Params};
use crate::tests::data::{Data, Rng, matrix};
use crate::tests::harness::{assert_exact, kernel, run};
use crate::tests::model::dot;

/// Instruction sets of this architecture with chains of their own.
const ISAS: &[Isa] = if cfg!(target_arch = "aarch64") { &[Isa::Neon] } else { &[Isa::Avx2, Isa::Avx512] };

#[test]
fn scratch_memory_follows_the_rows_of_a() {
    let f = Format::Fp16;
    let p = Params { family: Family::Exact { block: 4 }, a: f, b: f, output: Output::Fp32Rne, k: 4 };
    for isa in [Isa::Avx2, Isa::Avx512] {
        let Some(kernel) = kernel(&p, isa) else { continue };
        let of = |m| kernel.scratch_len(Shape { m, n: 64, k: 1 << 20 });
        assert!(of(1) * 8 < of(128), "{} words for a row, {} for 128", of(1), of(128));
        assert_eq!(of(128), of(4096));
    }
}

#[test]
fn integers() {
    for &isa in ISAS {
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
    for &isa in ISAS {
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

/// Chains of several blocks, in which every accumulator overflows early; a late infinite operand still tells.
#[test]
fn accumulators_beyond_finite() {
    let (m, n, k) = (9, 70, 300);
    for isa in [Isa::Avx2, Isa::Avx512] {
        for (f, family) in [
            (Format::Fp32, Family::SequentialFma),
            (Format::Bf16, Family::Pairwise { block: 2 }),
            (Format::Bf16, Family::Pairwise { block: 4 }),
            (Format::Bf16, Family::Exact { block: 2 }),
        ] {
            let p = Params { family, a: f, b: f, output: Output::Fp32Rne, k: 4 };
            let Some(kernel) = kernel(&p, isa) else { continue };
            let infinity = if f == Format::Fp32 { 0x7F80_0000 } else { 0x7F80 };
            for late in [None, Some(&[3usize, 66][..])] {
                let mut rng = Rng(11);
                let a = matrix(f, Data::Finite, m, k, &mut rng);
                let mut b = matrix(f, Data::Finite, n, k, &mut rng);
                for &j in late.into_iter().flatten() {
                    b[j * k + 290] = infinity;
                }
                let whole = 0..k;
                let shape = Shape { m, n, k };
                let d = run(&kernel, &a, &b, None, shape, (0..m, 0..n), core::slice::from_ref(&whole));
                let mut compared = 0;
                for (i, got) in d.iter().enumerate().filter_map(|(i, got)| Some((i, (*got)?))) {
                    let want = dot(&p, &a[i / n * k..][..k], &b[i % n * k..][..k], 0);
                    assert_eq!(got, want, "{isa:?} {p:?} element {i}: got {got:08x}, want {want:08x}");
                    compared += 1;
                }
                assert!(compared > 0, "{isa:?} {p:?} handed back everything");
            }
        }
    }
}
