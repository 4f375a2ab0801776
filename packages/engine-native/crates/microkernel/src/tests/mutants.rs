//! Kernels with one planted fault each: the sweep must see every one of them.

use crate::gemm::Kernel;
use crate::microkernel::Micro;
use crate::params::Params;
use crate::tests::harness::{lacks, sweep_while};

pub fn caught(params: Params, step: usize, micro: Box<dyn Micro>, what: &str) {
    let t = sweep_while(&Kernel::new(params, step, micro), 4, |t| t.wrong == 0);
    assert!(t.wrong > 0, "mutant {what} was not caught: {t:?}");
    eprintln!("mutant {what}: {} of {} wrong", t.wrong, t.compared);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn window_f32() {
    use crate::microkernel::avx512::window_f32::WindowF32;
    use crate::microkernel::narrow::mutation::*;
    use crate::params::Format::{E4m3, E5m2};
    if lacks(crate::Isa::Avx512) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let p = crate::tests::windows::fp8(E4m3, E5m2, 32, Some(-133));
        let (a, b) = (p.a.layout().unwrap(), p.b.layout().unwrap());
        let micro = WindowF32::<32, MUT>::new(a, b, 13, Some(-133), 13).unwrap();
        caught(p, 32, Box::new(micro), what);
    }
    make::<SIGN_FIX>("drop the sign fix");
    make::<ADDEND_FIX>("drop the fix of c");
    make::<ZERO_CODE>("drop the zero code");
    make::<CLAMP>("drop the clamp");
    make::<AND_MASK>("drop the final mask");
    make::<TAIL>("read past the tail");
    make::<ADDEND_LIMIT>("drop the range of c");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn window_f64() {
    use crate::microkernel::avx512::window_f64::WindowF64;
    use crate::microkernel::narrow::mutation::*;
    use crate::params::Format::Fp16;
    if lacks(crate::Isa::Avx512) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let p = crate::tests::windows::window(Fp16, 16, 25, Some(-133), 16);
        let l = p.a.layout().unwrap();
        let micro = WindowF64::<16, 25, MUT>::new(l, l, Some(-133), 23).unwrap();
        caught(p, 16, Box::new(micro), what);
    }
    make::<SIGN_FIX>("drop the sign fix");
    make::<ADDEND_FIX>("drop the fix of c");
    make::<ZERO_CODE>("drop the zero code");
    make::<CLAMP>("drop the clamp");
    make::<AND_MASK>("drop the final mask");
    make::<TAIL>("read past the tail");
    make::<ADDEND_LIMIT>("drop the range of c");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn window_wide() {
    use crate::microkernel::avx512::window_wide::{WindowWide, mutation::*};
    use crate::microkernel::narrow::mutation::*;
    use crate::params::Format::Bf16;
    if lacks(crate::Isa::Avx512) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let p = crate::tests::windows::window(Bf16, 8, 24, Some(-132), 16);
        let l = p.a.layout().unwrap();
        let micro = WindowWide::<8, 24, MUT>::new(l, l, Some(-132), 23).unwrap();
        caught(p, 8, Box::new(micro), what);
    }
    make::<SIGN_FIX>("drop the sign fix");
    make::<ADDEND_FIX>("drop the fix of c");
    make::<OVERFLOW>("drop the overflow check");
    make::<LOW>("drop the range of E");
    make::<NONE>("drop the zero code");
    make::<FAR>("drop the check of distances");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn split_f64() {
    use crate::microkernel::avx512::split_f64::{SplitF64, mutation::*};
    use crate::microkernel::narrow::mutation::*;
    use crate::params::Format::E5m2;
    if lacks(crate::Isa::Avx512) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let p = crate::tests::windows::split(E5m2, E5m2);
        let l = p.a.layout().unwrap();
        caught(p, 32, Box::new(SplitF64::<MUT>::new(l, l, Some(-133)).unwrap()), what);
    }
    make::<SIGN_FIX>("drop the sign fix");
    make::<LATE_ADDEND>("add c toward zero");
    make::<SECOND_FROM_ZERO>("begin the second half from zero");
    make::<TAIL>("read past the tail");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_window_f32() {
    use crate::microkernel::avx2::window_f32::WindowF32;
    use crate::microkernel::narrow::mutation::*;
    use crate::params::Format::{E4m3, E5m2};
    if lacks(crate::Isa::Avx2) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let p = crate::tests::windows::fp8(E4m3, E5m2, 32, Some(-133));
        let (a, b) = (p.a.layout().unwrap(), p.b.layout().unwrap());
        caught(p, 32, Box::new(WindowF32::<32, MUT>::new(a, b, Some(-133), 13).unwrap()), what);
    }
    make::<SIGN_FIX>("drop the sign fix");
    make::<ADDEND_FIX>("round c to nearest");
    make::<ZERO_CODE>("drop the zero code");
    make::<CLAMP>("drop the clamp");
    make::<AND_MASK>("drop the final mask");
    make::<TAIL>("read past the tail");
    make::<ADDEND_LIMIT>("drop the range of c");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_window_i32() {
    use crate::microkernel::avx2::window_i32::{WindowI32, mutation::*};
    use crate::params::Format::{E4m3, E5m2};
    if lacks(crate::Isa::Avx2) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let p = crate::params::Params { b: E5m2, ..crate::tests::windows::window(E4m3, 32, 25, None, 32) };
        let (a, b) = (p.a.layout().unwrap(), p.b.layout().unwrap());
        caught(p, 32, Box::new(WindowI32::<32, 25, false, MUT>::new(a, b, None).unwrap()), what);
    }
    make::<ONE_SUM>("drop the second sum");
    make::<CUT>("round products to nearest");
    make::<ADDEND_CUT>("round c to nearest");
    make::<AND_MASK>("drop the final mask");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn odd_even_f64() {
    use crate::microkernel::avx512::odd_even_f64::{OddEvenF64, mutation::*};
    use crate::microkernel::narrow::mutation::*;
    use crate::params::{Family, Format::E5m2Fnuz};
    if lacks(crate::Isa::Avx512) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let p = crate::tests::cdna::cdna3(E5m2Fnuz, Family::Cdna3OddEven, 32);
        let l = p.a.layout().unwrap();
        caught(p, 16, Box::new(OddEvenF64::<MUT>::new(l, l).unwrap()), what);
    }
    make::<SIGN_FIX>("drop the sign fix");
    make::<NORMAL>("drop the cut after normalisation");
    make::<REACH>("drop the reach of c");
    make::<MERGE>("merge windows without a cut");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn window_i32() {
    use crate::microkernel::avx512::window_i32::{WindowI32, mutation::*};
    use crate::microkernel::narrow::mutation::TAIL;
    use crate::params::{Family, Format};
    if lacks(crate::Isa::Avx512) {
        return;
    }
    fn fused<const MUT: u32>(what: &str) {
        let p = crate::tests::windows::window(Format::Tf32, 4, 24, Some(-132), 8);
        let l = p.a.layout().unwrap();
        caught(p, 8, Box::new(WindowI32::<4, 24, false, MUT>::new(l, l, Some(-132), 8).unwrap()), what);
    }
    fn cdna3<const MUT: u32>(what: &str) {
        let p = crate::tests::cdna::cdna3(Format::Bf16, Family::Cdna3Window { block: 8 }, 16);
        let l = p.a.layout().unwrap();
        caught(p, 16, Box::new(WindowI32::<8, 24, true, MUT>::new(l, l, None, 16).unwrap()), what);
    }
    fused::<CUT>("round products to nearest");
    fused::<ADDEND_CUT>("round c to nearest");
    fused::<RESULT>("round d to nearest");
    fused::<RANGE>("drop the range of E");
    fused::<FLOOR>("drop the floor");
    // A zero's formal exponent, -129 at most, changes no fused window: products that low end above 2^-154.
    fused::<OVERFLOW>("drop the overflow check");
    fused::<STAYS>("drop the infinite c");
    cdna3::<CUT>("round products to nearest");
    cdna3::<ADDEND_CUT>("cut c toward zero");
    cdna3::<RANGE>("drop the range of E");
    cdna3::<REACH>("drop the reach of c");
    cdna3::<FAR>("drop the far reach of c");
    cdna3::<ZERO_CODE>("drop the zero code");
    cdna3::<OVERFLOW>("drop the overflow check");
    cdna3::<NORMAL>("drop the cut after normalisation");
    cdna3::<TINY>("drop the least normal exponent");
    cdna3::<STAYS>("drop the infinite c");
    cdna3::<TAIL>("read past the tail");
}
