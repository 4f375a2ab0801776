//! `cargo bench -p bitmma-microkernel [-- FILTER]`: one tile of 128 x 256 x 512 by each kernel that the machine has, in
//! multiply-adds a second; operands packed before, random words and N(0,1).

#[allow(dead_code, reason = "the speed table uses more of it")]
#[path = "../examples/speed/data.rs"]
mod data;
#[allow(dead_code, reason = "the speed table uses more of it")]
#[path = "../examples/speed/ops.rs"]
mod ops;

use bitmma_microkernel::{Isa, Job, Out, Report, Shape, View, select};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use data::Matrix;
use ops::Op;

const SHAPE: Shape = Shape { m: 128, n: 256, k: 512 };

fn tile(criterion: &mut Criterion, op: &Op, isa: Isa) {
    let Some(kernel) = select(&op.params, isa) else { return };
    let kernel = kernel.with_exact_path(op.exact);
    let mut group = criterion.benchmark_group(format!("{} {}", kernel.name(), op.name));
    group.throughput(Throughput::Elements((SHAPE.m * SHAPE.n * SHAPE.k) as u64));
    group.sample_size(10);
    for data in op.data {
        let a = Matrix::random(op.params.a, *data, SHAPE.m * SHAPE.k, 1);
        let b = Matrix::random(op.params.b, *data, SHAPE.k * SHAPE.n, 2);
        let a = View { words: a.words(), offset: 0, row_stride: SHAPE.k, col_stride: 1 };
        let b = View { words: b.words(), offset: 0, row_stride: SHAPE.n, col_stride: 1 };
        let mut packed = vec![0u64; kernel.packed_b_len(SHAPE)];
        kernel.pack_b(&b, SHAPE, 0..kernel.panels(SHAPE.n), &mut packed);
        let mut scratch = vec![0u64; kernel.scratch_len(SHAPE)];
        let mut d = vec![0u32; SHAPE.m * SHAPE.n];
        let (rows, cols, whole) = (0..SHAPE.m, 0..SHAPE.n, 0..SHAPE.k);
        let job = Job { rows: &rows, cols: &cols, chain: core::slice::from_ref(&whole) };
        let mut report = Report::default();
        group.bench_function(data.name(), |bench| {
            bench.iter(|| {
                // SAFETY: `d` outlives the call, and nothing else touches it meanwhile.
                let mut out = unsafe { Out::u32(d.as_mut_ptr(), d.len(), 0, SHAPE.n, 1) };
                kernel.tile(&a, &packed, SHAPE, job, None, &mut out, &mut scratch, &mut report).unwrap();
            });
        });
    }
    group.finish();
}

fn kernels(criterion: &mut Criterion) {
    for isa in [Isa::Avx512, Isa::Avx2] {
        for op in ops::all() {
            tile(criterion, &op, isa);
        }
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
