//! AVX2's windows in 32-bit integers: CDNA3, and mutants of both kinds.
#![cfg(target_arch = "x86_64")]

use crate::Isa;
use crate::microkernel::avx2::cdna3_i32::Cdna3I32;
use crate::microkernel::avx2::wide::mutation::*;
use crate::microkernel::avx2::window_wide::WindowWide;
use crate::params::{Family, Format};
use crate::tests::cdna::cdna3;
use crate::tests::harness::{assert_exact, lacks};
use crate::tests::mutants::caught;
use crate::tests::windows::window;

#[test]
fn cdna3_windows() {
    for (f, block, k) in [
        (Format::Fp16, 8, 16),
        (Format::Fp16, 4, 4),
        (Format::Bf16, 8, 16),
        (Format::Bf16, 4, 4),
        (Format::Tf32, 4, 8),
    ] {
        assert_exact(&cdna3(f, Family::Cdna3Window { block }, k), Isa::Avx2, 8, 0.9);
    }
}

#[test]
fn cdna3_fp8() {
    for a in [Format::E4m3Fnuz, Format::E5m2Fnuz] {
        for b in [Format::E4m3Fnuz, Format::E5m2Fnuz] {
            let p = crate::params::Params { b, ..cdna3(a, Family::Cdna3OddEven, 32) };
            assert_exact(&p, Isa::Avx2, 4, 0.9);
        }
    }
}

#[test]
fn mutants_of_wide_windows() {
    if lacks(crate::Isa::Avx2) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let p = window(Format::Bf16, 16, 25, Some(-133), 16);
        let l = p.a.layout().unwrap();
        caught(p, 16, Box::new(WindowWide::<16, 25, MUT>::new(l, l, Some(-133)).unwrap()), what);
    }
    make::<CUT>("round products to nearest");
    make::<ADDEND_CUT>("round c to nearest");
    make::<CLAMP>("drop the clamp of shifts");
    make::<ZERO_CODE>("drop the zero code");
    make::<OVERFLOW>("drop the overflow check");
    make::<LOW>("drop the range of E");
    make::<FAR>("drop the range of shifts");
    make::<AND_MASK>("round sums to nearest");
    make::<LOUD>("drop the check of large sums");
    make::<TAIL>("read past the tail");
}

#[test]
fn mutants_of_cdna3() {
    if lacks(crate::Isa::Avx2) {
        return;
    }
    fn bf16<const MUT: u32>(what: &str) {
        let p = cdna3(Format::Bf16, Family::Cdna3Window { block: 8 }, 16);
        let l = p.a.layout().unwrap();
        caught(p, 16, Box::new(Cdna3I32::<8, false, MUT>::new(l, l, 16).unwrap()), what);
    }
    fn bf8<const MUT: u32>(what: &str) {
        let p = cdna3(Format::E5m2Fnuz, Family::Cdna3OddEven, 32);
        let l = p.a.layout().unwrap();
        caught(p, 32, Box::new(Cdna3I32::<8, true, MUT>::new(l, l, 32).unwrap()), what);
    }
    bf16::<CUT>("round products to nearest");
    bf16::<ADDEND_FLOOR>("cut c toward zero");
    bf16::<ZERO_CODE>("drop the zero code");
    bf16::<OVERFLOW>("drop the overflow check");
    bf16::<LOW>("drop the range of E");
    bf16::<FAR>("drop the range of shifts");
    bf16::<NORMAL>("drop the cut after normalisation");
    bf16::<TAIL>("read past the tail");
    bf8::<CUT>("round products to nearest");
    bf8::<ZERO_CODE>("drop the zero code");
    bf8::<ADDEND_FLOOR>("cut c toward zero");
    bf8::<ADDEND_REACH>("drop the reach of c");
    bf8::<MERGE>("merge windows toward zero");
    bf8::<NORMAL>("drop the cut after normalisation");
}
