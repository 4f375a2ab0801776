//! wgmma.mma_async: A and B from shared memory, the accumulator in registers of four warps (PTX ISA,
//! "Register fragments and shared memory matrix layouts" of wgmma): with g = lane >> 2, t = lane & 3, element i of
//! a lane of warp w is row 16*w + g + 8*((i >> 1) & 1), column 8*(i >> 2) + 2*t + (i & 1).

use super::smem::{self, Packing};
use super::{Layout, Matrix, Parts, Registers};
use crate::format::Format;
use crate::instruction::Instruction;

const LANES: usize = 128;

pub fn layout(i: &Instruction) -> Layout {
    let packing_a = Packing::of(i.a, false);
    let packing_b = Packing::of(i.b, false);
    let a_bytes = smem::bytes(&packing_a, i.m, i.k);
    let b_bytes = smem::bytes(&packing_b, i.n, i.k);
    let elements = i.m * i.n / LANES;
    let halves = i.d == Format::Fp16;
    let count = if halves { elements / 2 } else { elements };
    let c = Registers { base: a_bytes + b_bytes, lanes: LANES, count, bytes: 4 };
    let d = Registers { base: 0, ..c };
    let mut ma = Matrix::new(i.a.bits());
    let mut mb = Matrix::new(i.b.bits());
    let mut mc = Matrix::new(i.c.bits());
    let mut md = Matrix::new(i.d.bits());
    smem::place(&mut ma, &packing_a, 0, i.m, i.k, false);
    smem::place(&mut mb, &packing_b, a_bytes, i.n, i.k, true);
    for thread in 0..LANES {
        let (warp, g, t) = (thread / 32, thread % 32 / 4, thread % 4);
        for e in 0..elements {
            let (row, col) = (16 * warp + g + 8 * ((e >> 1) & 1), 8 * (e >> 2) + 2 * t + (e & 1));
            let at = |r: &Registers| if halves { r.bit(e / 2, thread) + 16 * (e % 2) } else { r.bit(e, thread) };
            mc.put(0, row, col, at(&c));
            md.put(0, row, col, at(&d));
        }
    }
    Layout {
        input_bytes: c.end(),
        output_bytes: d.end(),
        a: ma,
        b: mb,
        c: mc,
        d: md,
        scale_a: None,
        scale_b: None,
        sparse: None,
        parts: Parts::Warpgroup { a_bytes, b_bytes, c, d },
    }
}
