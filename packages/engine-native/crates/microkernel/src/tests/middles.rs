//! CDNA1's sums beside the middle between two fp32 numbers, by less than fp64 holds.
#![cfg(target_arch = "x86_64")]

use crate::Isa;
use crate::gemm::{Kernel, Shape};
use crate::microkernel::avx2::exact::{Sum, mutation::*};
use crate::microkernel::plain::Plain;
use crate::params::{Family, Format, Output, Params};
use crate::tests::harness::{kernel, lacks, run};
use crate::tests::model::dot;

const K: usize = 4;

fn params(f: Format) -> Params {
    let block = if f == Format::Fp16 { 4 } else { 2 };
    Params { family: Family::Exact { block }, a: f, b: f, output: Output::Fp32Rne, k: K }
}

/// A word of the format of 2^e.
fn power(f: Format, e: i32) -> u32 {
    match f {
        Format::Fp16 if e == -24 => 1,
        Format::Fp16 => ((e + 15) << 10) as u32,
        _ => ((e + 127) << 7) as u32,
    }
}

/// c, and the exponents of products' factors.
fn cases(f: Format) -> Vec<(u32, Vec<[i32; 2]>)> {
    let c = |x: f32| x.to_bits();
    let tiny = if f == Format::Fp16 { [-24, -24] } else { [-50, -60] };
    let mut cases = vec![
        (c(1048576.0), vec![[-2, -2], tiny]),
        (c(1048576.0) + 1, vec![[-2, -2], tiny]),
        (c(-1048576.0), vec![[-2, -2], tiny]),
        (c(-1048576.0) - 1, vec![[-2, -3], tiny]),
        (c(-1073741824.0), vec![[15, 15], tiny]),
        (c(1.0), vec![[-12, -12], tiny]),
    ];
    if f == Format::Bf16 {
        // Subnormals: the middle of 1 and 2, of 2 and 3 times 2^-149.
        cases.extend([1, 2].map(|c| (c, vec![[-75, -75], [-120, -120]])));
    } else {
        // h = 1 lacks more than half of fp32's last place.
        cases.push((c(-1073741824.0), vec![[15, 15], [0, 0], [-12, -12], tiny]));
    }
    cases
}

/// How many of the cases, each with every sign, are wrong.
fn wrong(kernel: &Kernel, f: Format) -> usize {
    let mut wrong = 0;
    for (c, exponents) in cases(f) {
        for signs in 0..4 {
            let sign = |i: usize| (signs >> i & 1) << 15;
            let mut a = vec![0; K];
            let mut b = vec![0; K];
            for (i, &[x, y]) in exponents.iter().enumerate() {
                (a[i], b[i]) = (power(f, x) | sign(i), power(f, y));
            }
            let whole = 0..K;
            let (shape, chain) = (Shape { m: 1, n: 1, k: K }, core::slice::from_ref(&whole));
            let d = run(kernel, &a, &b, Some(&[c]), shape, (0..1, 0..1), chain);
            wrong += usize::from(d[0].is_some_and(|d| d != dot(kernel.params(), &a, &b, c)));
        }
    }
    wrong
}

#[test]
fn sums() {
    for isa in [Isa::Avx2, Isa::Avx512] {
        for f in [Format::Fp16, Format::Bf16] {
            let Some(kernel) = kernel(&params(f), isa) else { continue };
            assert_eq!(wrong(&kernel, f), 0, "{isa:?} {f:?}");
        }
    }
}

#[test]
fn mutants() {
    if lacks(crate::Isa::Avx2) {
        return;
    }
    fn make<const N: usize, const MUT: u32>(f: Format, what: &str) {
        let kernel = Kernel::new(params(f), K, Box::new(Plain::<Sum<N, MUT>>::new(f, f, K)));
        assert!(wrong(&kernel, f) > 0, "mutant {what} was not caught");
    }
    make::<4, MIDDLE>(Format::Fp16, "drop the check of the middle");
    make::<2, MIDDLE>(Format::Bf16, "drop the check of the middle");
    make::<4, CANCEL>(Format::Fp16, "drop the check of what cancels");
    make::<2, SMALL>(Format::Bf16, "drop the check of subnormals");
}
