//! The table's rows.

use bitmma_microkernel::{Family, Format, Isa, Output, Params};

use crate::data::Data;

pub struct Op {
    pub name: &'static str,
    pub params: Params,
    pub data: &'static [Data],
    /// Whether the exact fast path is on.
    pub exact: bool,
    avx512: f64,
    avx2: f64,
}

impl Op {
    /// The least ratio wanted.
    pub fn bar(&self, isa: Isa) -> Option<f64> {
        match isa {
            Isa::Scalar | Isa::Neon => None,
            Isa::Avx2 => Some(self.avx2),
            Isa::Avx512 => Some(self.avx512),
        }
    }
}

const BOTH: &[Data] = &[Data::Words, Data::Normal];
const RZ: Output = Output::Fp32Rz { precision: 23 };

fn fused(block: usize, fraction: i32, floor: Option<i32>) -> Family {
    Family::FusedWindow { block, fraction, floor }
}

fn op(name: &'static str, family: Family, f: Format, output: Output, k: usize, bars: (f64, f64)) -> Op {
    let params = Params { family, a: f, b: f, output, k };
    Op { name, params, data: BOTH, exact: false, avx512: bars.0, avx2: bars.1 }
}

pub fn all() -> Vec<Op> {
    use Format::*;
    let p13 = Output::Fp32Rz { precision: 13 };
    let ampere = |f, k| (fused(8, 24, Some(-132)), f, RZ, k);
    let hopper = |f| (fused(16, 25, Some(-133)), f, RZ, 16);
    let with = |name, (family, f, output, k), bars| op(name, family, f, output, k, bars);
    let split = Family::SplitWindow { block: 16, fraction: 25, floor: Some(-133), select_bit: 1 };
    let mut ops = vec![
        op("Hopper wgmma e4m3", fused(32, 13, Some(-133)), E4m3, p13, 32, (0.36, 0.36)),
        op("Hopper wgmma e5m2", fused(32, 13, Some(-133)), E5m2, p13, 32, (0.36, 0.36)),
        op("Ada e4m3", fused(16, 13, Some(-132)), E4m3, p13, 32, (0.28, 0.28)),
        op("Ada e5m2", fused(16, 13, Some(-132)), E5m2, p13, 32, (0.28, 0.28)),
        with("Hopper fp16", hopper(Fp16), (0.19, 0.19)),
        with("Hopper bf16", hopper(Bf16), (0.19, 0.19)),
        with("Ampere fp16", ampere(Fp16, 16), (0.16, 0.14)),
        with("Ampere bf16", ampere(Bf16, 16), (0.16, 0.14)),
        op("Ampere tf32", fused(4, 24, Some(-132)), Tf32, RZ, 8, (0.12, 0.10)),
        op("V100 fp16", fused(4, 23, None), Fp16, RZ, 4, (0.12, 0.10)),
        op("tcgen05 e4m3", fused(32, 25, None), E4m3, RZ, 32, (0.17, 0.15)),
        op("tcgen05 e5m2", fused(32, 25, None), E5m2, RZ, 32, (0.17, 0.15)),
        op("tcgen05 e3m2", fused(32, 25, None), E3m2, RZ, 32, (0.17, 0.15)),
        op("tcgen05 e2m3", fused(32, 25, None), E2m3, RZ, 32, (0.17, 0.15)),
        op("tcgen05 e2m1", fused(32, 25, None), E2m1, RZ, 32, (0.17, 0.15)),
        op("mma.sync split e4m3", split, E4m3, RZ, 32, (0.14, 0.12)),
        op("mma.sync split e5m2", split, E5m2, RZ, 32, (0.14, 0.12)),
        op("CDNA3 fp16", Family::Cdna3Window { block: 8 }, Fp16, Output::Fp32Rne, 16, (0.09, 0.07)),
        op("CDNA3 bf16", Family::Cdna3Window { block: 8 }, Bf16, Output::Fp32Rne, 16, (0.09, 0.07)),
        op("CDNA3 xf32", Family::Cdna3Window { block: 4 }, Tf32, Output::Fp32Rne, 8, (0.05, 0.04)),
        op("CDNA3 fp8", Family::Cdna3OddEven, E4m3Fnuz, Output::Fp32Rne, 32, (0.06, 0.05)),
        op("CDNA3 bf8", Family::Cdna3OddEven, E5m2Fnuz, Output::Fp32Rne, 32, (0.06, 0.05)),
        op("i8", Family::Integer, S8, Output::S32Wrap, 32, (2.0, 1.0)),
        op("sequential FMA fp32", Family::SequentialFma, Fp32, Output::Fp32Rne, 4, (0.8, 0.8)),
        op("CDNA2 fp16", Family::Pairwise { block: 4 }, Fp16, Output::Fp32Rne, 16, (0.12, 0.10)),
        op("CDNA2 bf16", Family::Pairwise { block: 2 }, Bf16, Output::Fp32Rne, 8, (0.12, 0.10)),
        op("CDNA1 fp16", Family::Exact { block: 4 }, Fp16, Output::Fp32Rne, 16, (0.03, 0.03)),
        op("CDNA1 bf16", Family::Exact { block: 2 }, Bf16, Output::Fp32Rne, 8, (0.03, 0.03)),
    ];
    let exact = op("Hopper wgmma e4m3, exact", fused(32, 13, Some(-133)), E4m3, p13, 32, (0.6, 0.6));
    ops.insert(1, Op { data: &[Data::Integers], exact: true, ..exact });
    ops
}
