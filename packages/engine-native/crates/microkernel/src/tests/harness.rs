//! Runs a kernel over random tiles and compares every element that it vouches for.

use core::ops::Range;

use crate::gemm::{Job, Kernel, Shape};
use crate::params::{Format, Output, Params};
use crate::report::Report;
use crate::tests::data::{ALL, Data, Rng, addend, matrix};
use crate::tests::model::dot;
use crate::words::{Out, View, Words};

#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub compared: u64,
    pub flagged: u64,
    pub wrong: u64,
}

impl Tally {
    pub fn add(&mut self, t: Tally) {
        self.compared += t.compared;
        self.flagged += t.flagged;
        self.wrong += t.wrong;
    }
}

fn small(f: Format) -> bool {
    crate::tests::model::width(f) <= 8
}

/// Words in the container that the format travels in.
pub enum Store {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

impl Store {
    pub fn new(f: Format, words: &[u32]) -> Store {
        match crate::tests::model::width(f) {
            0..=8 => Store::U8(words.iter().map(|w| *w as u8).collect()),
            9..=16 => Store::U16(words.iter().map(|w| *w as u16).collect()),
            _ => Store::U32(words.to_vec()),
        }
    }

    pub fn words(&self) -> Words<'_> {
        match self {
            Store::U8(w) => Words::U8(w),
            Store::U16(w) => Words::U16(w),
            Store::U32(w) => Words::U32(w),
        }
    }
}

/// d of a rows x k by k x cols product; None where flagged. `a` rows and `b` columns are contiguous in k.
pub fn run(
    kernel: &Kernel,
    a: &[u32],
    b: &[u32],
    c: Option<&[u32]>,
    shape: Shape,
    tile: (Range<usize>, Range<usize>),
    chain: &[Range<usize>],
) -> Vec<Option<u32>> {
    let p = kernel.params();
    let (sa, sb) = (Store::new(p.a, a), Store::new(p.b, b));
    let av = View { words: sa.words(), offset: 0, row_stride: shape.k, col_stride: 1 };
    let bv = View { words: sb.words(), offset: 0, row_stride: 1, col_stride: shape.k };
    let mut packed = vec![0u64; kernel.packed_b_len(shape)];
    kernel.pack_b(&bv, shape, 0..kernel.panels(shape.n), &mut packed);
    let mut scratch = vec![0u64; kernel.scratch_len(shape)];
    let mut report = Report::default();
    let half = p.output == Output::Fp16Rne;
    let mut d32 = vec![0xDEAD_BEEF_u32; shape.m * shape.n];
    let mut d16 = vec![0xDEAD_u16; shape.m * shape.n];
    let cs = c.map(|c| Store::new(if half { Format::Fp16 } else { Format::Fp32 }, c));
    let cv = cs.as_ref().map(|c| View { words: c.words(), offset: 0, row_stride: shape.n, col_stride: 1 });
    // SAFETY: the buffers outlive the call and nothing else touches them meanwhile.
    let mut out = unsafe {
        if half {
            Out::u16(d16.as_mut_ptr(), d16.len(), 0, shape.n, 1)
        } else {
            Out::u32(d32.as_mut_ptr(), d32.len(), 0, shape.n, 1)
        }
    };
    let job = Job { rows: &tile.0, cols: &tile.1, chain };
    kernel.tile(&av, &packed, shape, job, cv.as_ref(), &mut out, &mut scratch, &mut report).unwrap();
    let d = if half { d16.iter().map(|w| u32::from(*w)).collect() } else { d32 };
    let mut d: Vec<Option<u32>> = d.into_iter().map(Some).collect();
    for (i, j) in report.flagged() {
        d[i * shape.n + j] = None;
    }
    assert_eq!(report.flagged_len() as u64, report.counts.fallback());
    let total = report.counts.fallback() + report.counts.kernel + report.counts.exact;
    assert_eq!(total, (tile.0.len() * tile.1.len()) as u64);
    d
}

/// One random product of the mode, compared.
pub fn trial(kernel: &Kernel, data: Data, with_c: bool, shape: Shape, seed: u64) -> Tally {
    let p = *kernel.params();
    let mut rng = Rng(seed);
    let a = matrix(p.a, data, shape.m, shape.k, &mut rng);
    let other = match data {
        Data::Cancel => Data::Narrow,
        Data::Under => Data::Over,
        _ => data,
    };
    let b = matrix(p.b, other, shape.n, shape.k, &mut rng);
    let cf = if p.output == Output::Fp16Rne { Format::Fp16 } else { Format::Fp32 };
    let c: Option<Vec<u32>> =
        with_c.then(|| (0..shape.m * shape.n).map(|_| addend(cf, data, &mut rng)).collect());
    let whole = 0..shape.k;
    let d = run(kernel, &a, &b, c.as_deref(), shape, (0..shape.m, 0..shape.n), std::slice::from_ref(&whole));
    let mut tally = Tally::default();
    for i in 0..shape.m {
        for j in 0..shape.n {
            let Some(got) = d[i * shape.n + j] else {
                tally.flagged += 1;
                continue;
            };
            let (ra, rb) = (&a[i * shape.k..][..shape.k], &b[j * shape.k..][..shape.k]);
            let want = dot(&p, ra, rb, c.as_ref().map_or(0, |c| c[i * shape.n + j]));
            tally.compared += 1;
            if got != want {
                tally.wrong += 1;
                if tally.wrong == 1 && std::env::var_os("BITMMA_SHOW").is_some() {
                    let c0 = c.as_ref().map_or(0, |c| c[i * shape.n + j]);
                    eprintln!("{data:?} ({i}, {j}) k {} got {got:08x} want {want:08x} c {c0:08x}", shape.k);
                    eprintln!("a {ra:x?}\nb {rb:x?}");
                }
            }
        }
    }
    tally
}

/// Every data mode, with and without c, several shapes; returns the sum.
pub fn sweep(kernel: &Kernel, rounds: u64) -> Tally {
    sweep_while(kernel, rounds, |_| true)
}

/// As [`sweep`], as long as `go` holds of the sum.
pub fn sweep_while(kernel: &Kernel, rounds: u64, go: fn(&Tally) -> bool) -> Tally {
    let mut sum = Tally::default();
    let step = kernel.params().k;
    for (i, data) in ALL.into_iter().enumerate() {
        for round in 0..rounds {
            let shape = match round % 4 {
                0 => Shape { m: 64, n: 64, k: step },
                1 => Shape { m: 37, n: 70, k: step * 3 },
                2 => Shape { m: 5, n: 130, k: step * 2 + 1 },
                _ => Shape { m: 66, n: 64, k: step * 7 - step / 2 },
            };
            let seed = (i as u64) << 32 | round << 8 | 7;
            sum.add(trial(kernel, data, round % 3 != 2, shape, seed));
            if !go(&sum) {
                return sum;
            }
        }
    }
    sum
}

/// Whether the machine lacks the instruction set; then with a line that the test command counts.
pub fn lacks(isa: crate::Isa) -> bool {
    if !isa.available() {
        eprintln!("SKIPPED: this machine lacks {}", isa.name());
    }
    !isa.available()
}

/// The kernel of these params, or None where the machine lacks the instruction set.
pub fn kernel(params: &Params, isa: crate::Isa) -> Option<Kernel> {
    if lacks(isa) {
        return None;
    }
    Some(crate::select(params, isa).unwrap_or_else(|| panic!("no {} kernel for {params:?}", isa.name())))
}

/// Sweeps and asserts that nothing is wrong and enough was compared.
pub fn assert_exact(params: &Params, isa: crate::Isa, rounds: u64, least: f64) {
    let Some(kernel) = kernel(params, isa) else { return };
    // BITMMA_ROUNDS multiplies the work: 1 in the test suite, 50 for a long run.
    let more = std::env::var("BITMMA_ROUNDS").ok().and_then(|v| v.parse().ok()).unwrap_or(1);
    let rounds = rounds * more;
    let t = sweep(&kernel, rounds);
    eprintln!("{} {params:?}: {t:?}", kernel.name());
    assert_eq!(t.wrong, 0, "{} {params:?}: {t:?}", kernel.name());
    let share = t.compared as f64 / (t.compared + t.flagged) as f64;
    assert!(share >= least, "{} vouched for {share} of the elements only", kernel.name());
    assert!(small(params.a) || t.compared > 0);
}
