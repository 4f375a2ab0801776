//! Speed of the micro-kernels against single-threaded OpenBLAS sgemm of the same instruction set.
//!
//! `speed [--isa avx512|avx2|scalar]... [--only TEXT] [--rounds N] [--n SIZE] [--threads T]` prints a Markdown table.
//! One process per instruction set (OpenBLAS takes its core type from the environment when it is loaded); within it,
//! sgemm and the kernel run in turns and medians are compared. Packing is included.

mod clock;
mod data;
mod ops;
mod sgemm;

use std::process::Command;

use bitmma_microkernel::{Isa, Job, Kernel, Out, Report, Shape, View, select};
use clock::Clock;
use data::{Data, Matrix};
use ops::Op;
use sgemm::Sgemm;

struct Options {
    isas: Vec<Isa>,
    only: Option<String>,
    rounds: usize,
    n: usize,
    threads: usize,
    child: bool,
}

fn options() -> Result<Options, String> {
    let mut o = Options { isas: vec![], only: None, rounds: 7, n: 1024, threads: 1, child: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        let number = |v: String| v.parse::<usize>().map_err(|e| format!("{arg} {v}: {e}"));
        match arg.as_str() {
            "--isa" => {
                let name = value()?;
                o.isas.push(Isa::from_name(&name).ok_or_else(|| format!("no instruction set {name}"))?);
            }
            "--only" => o.only = Some(value()?),
            "--rounds" => o.rounds = number(value()?)?,
            "--n" => o.n = number(value()?)?,
            "--threads" => o.threads = number(value()?)?,
            "--child" => o.child = true,
            _ => return Err(format!("unknown argument {arg}")),
        }
    }
    if o.isas.is_empty() {
        o.isas = Isa::ALL.into_iter().filter(|i| i.available()).rev().collect();
    }
    Ok(o)
}

fn core_type(isa: Isa) -> &'static str {
    match isa {
        Isa::Avx512 => "SkylakeX",
        _ => "Haswell",
    }
}

fn main() {
    let o = match options() {
        Ok(o) => o,
        Err(e) => {
            eprintln!("speed: {e}");
            std::process::exit(2);
        }
    };
    if o.child {
        return child(&o, o.isas[0]);
    }
    for isa in &o.isas {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(std::env::args().skip(1))
            .args(["--child", "--isa", isa.name()])
            .env("OPENBLAS_CORETYPE", core_type(*isa))
            .env("OPENBLAS_NUM_THREADS", "1")
            .status()
            .unwrap();
        assert!(status.success(), "the {} process failed", isa.name());
    }
}

fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}

fn child(o: &Options, _first: Isa) {
    let isa = *o.isas.last().unwrap();
    let blas = Sgemm::load().expect("libopenblas.so.0 is not installed");
    let (core, threads) = blas.config();
    println!(
        "\n{}: n = {}, OpenBLAS core type {core}, {threads} thread, {} rounds\n",
        isa.name(),
        o.n,
        o.rounds
    );
    println!("| op | data | kernel | GMAC/s | sgemm GMAC/s | ratio | bar | fallback |");
    println!("|---|---|---|---|---|---|---|---|");
    for op in ops::all() {
        if o.only.as_ref().is_some_and(|t| !op.name.contains(t.as_str())) {
            continue;
        }
        let bar = op.bar(isa).map_or("–".into(), |b| format!("{b:.2}"));
        let Some(kernel) = select(&op.params, isa) else {
            println!("| {} | – | none | – | – | – | {bar} | – |", op.name);
            continue;
        };
        let kernel = kernel.with_exact_path(op.exact);
        for data in op.data {
            let (ours, theirs, ratio, report) = measure(&op, &kernel, *data, o, &blas);
            let work = (o.n * o.n * o.n) as f64 / 1e9;
            let c = report.counts;
            let all = (c.kernel + c.exact + c.fallback()) as f64;
            println!(
                "| {} | {} | {} | {:.1} | {:.1} | **{:.3}** | {bar} | {:.3} % |",
                op.name,
                data.name(),
                kernel.name(),
                work / ours,
                work / theirs,
                ratio,
                100.0 * c.fallback() as f64 / all,
            );
        }
    }
}

fn measure(op: &Op, kernel: &Kernel, data: Data, o: &Options, blas: &Sgemm) -> (f64, f64, f64, Report) {
    let n = o.n;
    let shape = Shape { m: n, n, k: n };
    let a = Matrix::random(op.params.a, data, n * n, 1);
    let b = Matrix::random(op.params.b, data, n * n, 2);
    let av = View { words: a.words(), offset: 0, row_stride: n, col_stride: 1 };
    let bv = View { words: b.words(), offset: 0, row_stride: n, col_stride: 1 };
    let mut packed = vec![0u64; kernel.packed_b_len(shape) + 8];
    let skip = packed.as_ptr().align_offset(64);
    let packed = &mut packed[skip..];
    let mut d32 = vec![0u32; n * n];
    let mut d16 = vec![0u16; n * n];
    let half = op.params.output == bitmma_microkernel::Output::Fp16Rne;
    let mut report = Report::default();
    let (fa, fb) = (data::floats(n * n, 3), data::floats(n * n, 4));
    let mut fc = vec![0f32; n * n];
    // Other work on the machine does not count against a single thread.
    let clock = if o.threads == 1 { Clock::ThreadCpu } else { Clock::Wall };
    let (mut ours, mut theirs) = (vec![], vec![]);
    for _ in 0..o.rounds {
        let t = clock.now();
        blas.run(n, &fa, &fb, &mut fc);
        theirs.push(clock.now() - t);
        report = Report::default();
        let t = clock.now();
        kernel.pack_b(&bv, shape, 0..kernel.panels(n), packed);
        let share = n.div_ceil(o.threads);
        std::thread::scope(|scope| {
            for w in 1..o.threads {
                let (d32, d16) = (d32.as_mut_ptr() as usize, d16.as_mut_ptr() as usize);
                let packed: &[u64] = packed;
                scope.spawn(move || {
                    let rows = w * share..n.min((w + 1) * share);
                    tile(kernel, &av, packed, shape, rows, half, d32, d16, &mut Report::default());
                });
            }
            let (d32, d16) = (d32.as_mut_ptr() as usize, d16.as_mut_ptr() as usize);
            tile(kernel, &av, packed, shape, 0..share.min(n), half, d32, d16, &mut report);
        });
        ours.push(clock.now() - t);
    }
    // Paired within a round, so that a slow spell of the machine meets both.
    let ratios = ours.iter().zip(&theirs).map(|(o, t)| t / o).collect();
    (median(ours), median(theirs), median(ratios), report)
}

#[allow(clippy::too_many_arguments)]
fn tile(
    kernel: &Kernel,
    a: &View<'_>,
    packed: &[u64],
    shape: Shape,
    rows: core::ops::Range<usize>,
    half: bool,
    d32: usize,
    d16: usize,
    report: &mut Report,
) {
    let n = shape.n;
    let mut scratch = vec![0u64; kernel.scratch_len(shape)];
    // SAFETY: the buffers outlive the scope, and threads write disjoint rows.
    let mut d = unsafe {
        if half {
            Out::u16(d16 as *mut u16, n * n, 0, n, 1)
        } else {
            Out::u32(d32 as *mut u32, n * n, 0, n, 1)
        }
    };
    let whole = 0..n;
    let job = Job { rows: &rows, cols: &whole, chain: core::slice::from_ref(&whole) };
    kernel.tile(a, packed, shape, job, None, &mut d, &mut scratch, report).unwrap();
}
