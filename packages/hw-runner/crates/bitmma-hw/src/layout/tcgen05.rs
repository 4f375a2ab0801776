//! tcgen05.mma, M = 128, one CTA: A and B from shared memory, the rest in tensor memory (PTX ISA 9.7.16.10).
//!
//! D: layout D, lane = row, one 32-bit column an element (fp16 in the low half). Scale factors: row r of A (column
//! r of B) in lane r % 32 of all four partitions, column r / 32, byte = K block. Sparsity metadata, selector 0:
//! kind::tf32 and kind::f16 spread a row's eight selectors over lanes r' and r' + 8 (r' = r % 8 + 16*(r / 16)), 16
//! bits of k half h at lane r' + 8*h, low half rows r' , high half rows r' + 8; the 8-bit and mx kinds have lane =
//! row, eight selectors a column.

use super::smem::{self, Packing};
use super::{Layout, Matrix, Parts, Registers};
use crate::instruction::{Instruction, Kind, Sparsity};

const LANES: usize = 128;

/// Columns of `extra` in this order: scale A (4), scale B (4), metadata (4).
pub const EXTRA_COLUMNS: usize = 12;
pub const SCALE_A: usize = 0;
pub const SCALE_B: usize = 4;
pub const METADATA: usize = 8;

pub fn layout(i: &Instruction) -> Layout {
    let packed = matches!(i.kind, Kind::Mxf4 | Kind::Mxf4nvf4);
    let packing_a = Packing::of(i.a, packed);
    let packing_b = Packing::of(i.b, packed);
    let a_bytes = smem::bytes(&packing_a, i.m, i.stored_k());
    let b_bytes = smem::bytes(&packing_b, i.n, i.k);
    let c = Registers { base: a_bytes + b_bytes, lanes: LANES, count: i.n, bytes: 4 };
    let needs_extra = i.scaling.is_some() || i.sparsity.is_some();
    let extra = needs_extra.then(|| Registers { base: c.end(), lanes: LANES, count: EXTRA_COLUMNS, bytes: 4 });
    let d = Registers { base: 0, ..c };
    let mut ma = Matrix::new(i.a.bits());
    let mut mb = Matrix::new(i.b.bits());
    let mut mc = Matrix::new(i.c.bits());
    let mut md = Matrix::new(i.d.bits());
    smem::place(&mut ma, &packing_a, 0, i.m, i.stored_k(), false);
    smem::place(&mut mb, &packing_b, a_bytes, i.n, i.k, true);
    for lane in 0..LANES {
        for col in 0..i.n {
            mc.put(0, lane, col, c.bit(col, lane));
            md.put(0, lane, col, d.bit(col, lane));
        }
    }
    let (mut scale_a, mut scale_b, mut sparse) = (None, None, None);
    if let Some(extra) = &extra {
        if i.scaling.is_some() {
            scale_a = Some(scales(i, extra, SCALE_A, i.m, false));
            scale_b = Some(scales(i, extra, SCALE_B, i.n, true));
        }
        if let Some(rule) = i.sparsity {
            sparse = Some(metadata(i, extra, rule));
        }
    }
    Layout {
        input_bytes: extra.map_or(c.end(), |e| e.end()),
        output_bytes: d.end(),
        a: ma,
        b: mb,
        c: mc,
        d: md,
        scale_a,
        scale_b,
        sparse,
        parts: Parts::Tensor { a_bytes, b_bytes, c, extra, d },
    }
}

fn scales(i: &Instruction, extra: &Registers, column: usize, rows: usize, transposed: bool) -> Matrix {
    let mut matrix = Matrix::new(8);
    for row in 0..rows {
        for block in 0..i.scale_words() {
            for partition in 0..4 {
                let bit = extra.bit(column + row / 32, row % 32 + 32 * partition) + 8 * block;
                if transposed {
                    matrix.put(0, block, row, bit);
                } else {
                    matrix.put(0, row, block, bit);
                }
            }
        }
    }
    matrix
}

fn metadata(i: &Instruction, extra: &Registers, rule: Sparsity) -> Matrix {
    let mut matrix = Matrix::new(4);
    let split = matches!(i.kind, Kind::Tf32 | Kind::F16);
    for row in 0..i.m {
        for chunk in 0..i.k / rule.chunk() {
            let bit = if split {
                let lane = row % 8 + 16 * (row / 16) + 8 * (chunk / 4);
                extra.bit(METADATA, lane) + 16 * (row / 8 % 2) + 4 * (chunk % 4)
            } else {
                extra.bit(METADATA + chunk / 8, row) + 4 * (chunk % 8)
            };
            matrix.put(0, row, chunk, bit);
        }
    }
    matrix
}
