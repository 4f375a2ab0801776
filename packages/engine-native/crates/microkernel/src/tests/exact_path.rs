//! The exact fast path: taken up to its conditions, not one bit past them, and right on both sides.

use crate::gemm::{Job, Kernel, Shape};
use crate::params::{Format, Params};
use crate::report::{Counts, Report};
use crate::tests::harness::{Store, kernel, lacks};
use crate::tests::model::dot;
use crate::tests::windows::fp8;
use crate::words::{Out, View};

/// One row by one column; the rest of the tile is zero.
struct Case {
    what: &'static str,
    a: Vec<u32>,
    b: Vec<u32>,
    c: u32,
    exact: bool,
}

/// e4m3 of a small number that it holds.
fn e4m3(x: f64) -> u32 {
    let sign = u32::from(x < 0.0) << 7;
    let m = x.abs();
    let word = (0..0x7F).find(|w| {
        let (e, f) = ((w >> 3) as i32, f64::from(w & 7));
        m == if e == 0 { f * 2f64.powi(-9) } else { (8.0 + f) * 2f64.powi(e - 10) }
    });
    sign | word.unwrap_or_else(|| panic!("e4m3 does not hold {x}"))
}

fn words(x: &[f64], k: usize) -> Vec<u32> {
    let mut out: Vec<u32> = x.iter().map(|x| e4m3(*x)).collect();
    out.resize(k, 0);
    out
}

fn cases() -> Vec<Case> {
    let case = |what, a: &[f64], b: &[f64], c: f32, exact, k| Case {
        what,
        a: words(a, k),
        b: words(b, k),
        c: c.to_bits(),
        exact,
    };
    let ones = [1.0; 32];
    let signs: [f64; 32] = core::array::from_fn(|i| if i % 2 == 0 { 1.0 } else { -1.0 });
    let and_one = |x: f64| [vec![x; 31], vec![1.0]].concat();
    // e_a = -6 for the subnormal 2^-9.
    let least = 2f64.powi(-9);
    vec![
        case("integers", &[3.0, -4.0, 2.0], &[4.0, 1.0, -3.0], 0.0, true, 32),
        case("the largest sum, 2^14 - 1", &ones, &ones, 16351.0, true, 32),
        case("a sum of 2^14", &ones, &ones, 16352.0, false, 32),
        case("a sum of 2^14 + 1", &ones, &ones, 16353.0, false, 32),
        case("a negative sum of -2^14 - 1", &ones, &[-1.0; 32], -16353.0, false, 32),
        case("products alone, above 2^14", &and_one(18.0), &and_one(32.0), 0.0, false, 32),
        case("products alone that cancel", &[16.0; 32], &signs, 0.0, true, 32),
        case(
            "products and a last bit",
            &[[208.0, 1.0].repeat(8)].concat(),
            &[[10.0, 1.0].repeat(8)].concat(),
            0.0,
            false,
            32,
        ),
        case("half a unit in c", &ones, &ones, 0.5, false, 32),
        case("half a unit and much in c", &ones, &ones, 8191.5, false, 32),
        case("c of many bits beside zeros", &[], &[], 1.0 + f32::EPSILON, false, 32),
        case("the largest exponent of a subnormal", &[least, least], &[128.0, 0.125], 0.0, true, 32),
        case("one more", &[least, least], &[128.0, 0.0625], 0.0, false, 32),
        case("-0 beside zeros", &[], &[], -0.0, true, 32),
        case("-0 and products of -0", &[-1.0; 32], &[0.0; 32], -0.0, true, 32),
        case("a sum that cancels", &[1.0, 1.0], &[1.0, -1.0], -0.0, true, 32),
        case("the second segment's", &[vec![1.0; 256], vec![1.0; 256]].concat(), &[1.0; 512], 0.0, true, 512),
        case(
            "exact, then not",
            &[vec![1.0; 256], vec![0.0625, 1.125]].concat(),
            &[[1.0; 256].to_vec(), vec![0.0625, 15.0]].concat(),
            8000.0,
            false,
            512,
        ),
        case(
            "not, then exact",
            &[vec![0.0625, 1.125], vec![0.0; 254], vec![2.0; 256]].concat(),
            &[vec![0.0625, 240.0], vec![0.0; 254], vec![3.0; 256]].concat(),
            0.0,
            false,
            512,
        ),
    ]
}

/// Word of the element, and how many elements each path computed.
fn run(kernel: &Kernel, case: &Case) -> (u32, Counts) {
    let k = case.a.len();
    let shape = Shape { m: 1, n: 1, k };
    let (a, b, c) = (Store::new(Format::E4m3, &case.a), Store::new(Format::E4m3, &case.b), [case.c]);
    let view = |words| View { words, offset: 0, row_stride: k, col_stride: 1 };
    let column = View { words: b.words(), offset: 0, row_stride: 1, col_stride: k };
    let mut packed = vec![0u64; kernel.packed_b_len(shape)];
    kernel.pack_b(&column, shape, 0..1, &mut packed);
    let mut scratch = vec![0u64; kernel.scratch_len(shape)];
    let (mut report, mut d) = (Report::default(), [0u32]);
    // SAFETY: `d` outlives the call and nothing else touches it meanwhile.
    let mut out = unsafe { Out::u32(d.as_mut_ptr(), 1, 0, 1, 1) };
    let whole = 0..k;
    let job = Job { rows: &(0..1), cols: &(0..1), chain: core::slice::from_ref(&whole) };
    let c = View { words: crate::words::Words::U32(&c), ..view(a.words()) };
    let (a, c) = (view(a.words()), Some(&c));
    kernel.tile(&a, &packed, shape, job, c, &mut out, &mut scratch, &mut report).unwrap();
    assert_eq!(report.flagged_len(), 0, "{}", case.what);
    (d[0], report.counts)
}

fn params(block: usize) -> Params {
    fp8(Format::E4m3, Format::E4m3, block, Some(-133))
}

#[test]
fn edges() {
    for isa in [crate::Isa::Avx2, crate::Isa::Avx512] {
        for block in [16, 32] {
            let p = params(block);
            let Some(on) = kernel(&p, isa) else { continue };
            for case in cases() {
                let want = dot(&p, &case.a, &case.b, case.c);
                let (got, counts) = run(&on, &case);
                assert_eq!(got, want, "{}: got {got:08x}, want {want:08x}", case.what);
                assert_eq!(counts.exact, u64::from(case.exact), "{}: {counts:?}", case.what);
            }
            let off = on.with_exact_path(false);
            for case in cases() {
                let want = dot(&p, &case.a, &case.b, case.c);
                let (got, counts) = run(&off, &case);
                assert_eq!((got, counts.exact), (want, 0), "{}, switched off", case.what);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn caught(micro: Box<dyn crate::microkernel::Micro>, what: &str) {
    let p = params(32);
    let kernel = Kernel::new(p, 32, micro);
    let wrong: Vec<_> = cases()
        .into_iter()
        .filter(|case| run(&kernel, case).0 != dot(&p, &case.a, &case.b, case.c))
        .map(|case| case.what)
        .collect();
    assert!(!wrong.is_empty(), "mutant {what} was not caught");
    eprintln!("mutant {what}: {wrong:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn mutants() {
    use crate::microkernel::avx512::exact_path::mutation::*;
    use crate::microkernel::avx512::window_f32::WindowF32;
    if lacks(crate::Isa::Avx512) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let l = Format::E4m3.layout().unwrap();
        caught(Box::new(WindowF32::<32, MUT>::new(l, l, 13, Some(-133), 13).unwrap()), what);
    }
    make::<SUM>("drop the bound on the sum");
    make::<TOP>("drop the bound on exponents");
    make::<MULTIPLE>("drop c's multiple");
    make::<PLUS_ZERO>("keep c's -0");
    make::<ADDEND>("leave c out of the sum");
    make::<STALE>("keep distances of an older c");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_mutants() {
    use crate::microkernel::avx2::exact_path::mutation::*;
    use crate::microkernel::avx2::window_f32::WindowF32;
    if lacks(crate::Isa::Avx2) {
        return;
    }
    fn make<const MUT: u32>(what: &str) {
        let l = Format::E4m3.layout().unwrap();
        caught(Box::new(WindowF32::<32, MUT>::new(l, l, Some(-133), 13).unwrap()), what);
    }
    make::<SUM>("drop the bound on the sum");
    make::<TOP>("drop the bound on exponents");
    make::<MULTIPLE>("drop c's multiple");
    make::<PLUS_ZERO>("keep c's -0");
    make::<ADDEND>("leave c out of the sum");
}
