//! Fragments of mma.sync, from the PTX ISA, "Matrix multiply-accumulate operation using mma instruction"
//! (9.7.14.5 in ISA 9.2, one subsection a shape).
//!
//! With g = lane >> 2 and t = lane & 3, register r of A holds p consecutive k positions (p elements a register)
//! of row g + row(r), from k(r) + t*p; register r of B those of column g. Accumulators: row g + 8*(i >> 1),
//! column 2*t + (i & 1).

use super::{Layout, Matrix, Parts, Registers};
use crate::format::Format;
use crate::instruction::{Instruction, Kind};

struct Fragment {
    shape: (usize, usize, usize),
    /// Bits of an element's container.
    bits: usize,
    /// (row, k) offset of each register.
    a: &'static [(usize, usize)],
    /// k offset of each register.
    b: &'static [usize],
}

const FRAGMENTS: [Fragment; 12] = [
    Fragment { shape: (16, 8, 8), bits: 16, a: &[(0, 0), (8, 0)], b: &[0] },
    Fragment { shape: (16, 8, 16), bits: 16, a: &[(0, 0), (8, 0), (0, 8), (8, 8)], b: &[0, 8] },
    Fragment { shape: (16, 8, 4), bits: 32, a: &[(0, 0), (8, 0)], b: &[0] },
    Fragment { shape: (16, 8, 8), bits: 32, a: &[(0, 0), (8, 0), (0, 4), (8, 4)], b: &[0, 4] },
    Fragment { shape: (8, 8, 16), bits: 8, a: &[(0, 0)], b: &[0] },
    Fragment { shape: (16, 8, 16), bits: 8, a: &[(0, 0), (8, 0)], b: &[0] },
    Fragment { shape: (16, 8, 32), bits: 8, a: &[(0, 0), (8, 0), (0, 16), (8, 16)], b: &[0, 16] },
    Fragment { shape: (16, 8, 64), bits: 4, a: &[(0, 0), (8, 0), (0, 32), (8, 32)], b: &[0, 32] },
    Fragment { shape: (8, 8, 4), bits: 64, a: &[(0, 0)], b: &[0] },
    Fragment { shape: (16, 8, 4), bits: 64, a: &[(0, 0), (8, 0)], b: &[0] },
    Fragment { shape: (16, 8, 8), bits: 64, a: &[(0, 0), (8, 0), (0, 4), (8, 4)], b: &[0, 4] },
    Fragment {
        shape: (16, 8, 16),
        bits: 64,
        a: &[(0, 0), (8, 0), (0, 4), (8, 4), (0, 8), (8, 8), (0, 12), (8, 12)],
        b: &[0, 4, 8, 12],
    },
];

const LANES: usize = 32;

/// Container bits of an element in a register, and the element's first bit in it. Under the f8f6f4 kinds an e2m1
/// lies in the middle of a byte, bits 2 to 5, a 6-bit element in bits 0 to 5; mxf4 kinds pack two e2m1 a byte.
fn container(i: &Instruction, format: Format) -> (usize, usize) {
    match (i.kind, format) {
        (Kind::Mxf4 | Kind::Mxf4nvf4, _) => (4, 0),
        (_, Format::E2m1) => (8, 2),
        _ => (format.word_bits() as usize, 0),
    }
}

pub fn layout(i: &Instruction) -> Layout {
    if i.blocks == 4 {
        return volta(i);
    }
    let (bits, shift_a) = container(i, i.a);
    let (_, shift_b) = container(i, i.b);
    let fragment = FRAGMENTS
        .iter()
        .find(|f| f.shape == (i.m, i.n, i.k) && f.bits == bits)
        .unwrap_or_else(|| panic!("no fragment of {}", i.name));
    let bytes = if bits == 64 { 8 } else { 4 };
    let per = 8 * bytes / bits;
    let elements = i.m * i.n / LANES;
    let parts = registers(i, fragment.a.len(), fragment.b.len(), bytes, elements, i.scaling.is_some());
    let Parts::Warp { a: ra, b: rb, c: rc, scales, d: rd } = parts else { unreachable!() };
    let mut a = Matrix::new(i.a.bits());
    let mut b = Matrix::new(i.b.bits());
    let mut c = Matrix::new(i.c.bits());
    let mut d = Matrix::new(i.d.bits());
    for lane in 0..LANES {
        let (g, t) = (lane >> 2, lane & 3);
        for e in 0..per {
            for (r, &(row, k)) in fragment.a.iter().enumerate() {
                a.put(0, g + row, k + t * per + e, ra.bit(r, lane) + e * bits + shift_a);
            }
            for (r, &k) in fragment.b.iter().enumerate() {
                b.put(0, k + t * per + e, g, rb.bit(r, lane) + e * bits + shift_b);
            }
        }
        for e in 0..elements {
            let (row, col) = (g + 8 * (e >> 1), 2 * t + (e & 1));
            c.put(0, row, col, accumulator(&rc, lane, e, i.c));
            d.put(0, row, col, accumulator(&rd, lane, e, i.d));
        }
    }
    let (scale_a, scale_b) = match scales {
        Some(r) => {
            let (sa, sb) = scale_factors(i, &r);
            (Some(sa), Some(sb))
        }
        None => (None, None),
    };
    Layout { input_bytes: input_end(&parts), output_bytes: rd.end(), a, b, c, d, scale_a, scale_b, sparse: None, parts }
}

/// Scale words, register 0 of A and 1 of B, selectors {0, 0}: A's rows g and g + 8 come from lanes 0 and 1 of the
/// quad, B's column g from lane 0; every other lane carries the same so that no selector can miss. Byte j is K
/// block j ("Block scaling", 9.7.14.3).
fn scale_factors(i: &Instruction, r: &Registers) -> (Matrix, Matrix) {
    let mut a = Matrix::new(8);
    let mut b = Matrix::new(8);
    for lane in 0..LANES {
        let (g, t) = (lane >> 2, lane & 3);
        for j in 0..i.scale_words() {
            a.put(0, g + 8 * (t & 1), j, r.bit(0, lane) + 8 * j);
            b.put(0, j, g, r.bit(1, lane) + 8 * j);
        }
    }
    (a, b)
}

/// Bit of accumulator element `e` of a lane: one register each, fp16 two a register.
fn accumulator(r: &Registers, lane: usize, e: usize, format: Format) -> usize {
    match format {
        Format::Fp16 => r.bit(e / 2, lane) + 16 * (e % 2),
        _ => r.bit(e, lane),
    }
}

fn accumulator_registers(format: Format, elements: usize) -> (usize, usize) {
    match format {
        Format::Fp16 => (elements / 2, 4),
        Format::Fp64 => (elements, 8),
        _ => (elements, 4),
    }
}

fn registers(i: &Instruction, a: usize, b: usize, bytes: usize, elements: usize, scaled: bool) -> Parts {
    let a = Registers { base: 0, lanes: LANES, count: a, bytes };
    let b = Registers { base: a.end(), lanes: LANES, count: b, bytes };
    let (count, bytes) = accumulator_registers(i.c, elements);
    let c = Registers { base: b.end(), lanes: LANES, count, bytes };
    let scales = scaled.then(|| Registers { base: c.end(), lanes: LANES, count: 2, bytes: 4 });
    let (count, bytes) = accumulator_registers(i.d, elements);
    let d = Registers { base: 0, lanes: LANES, count, bytes };
    Parts::Warp { a, b, c, scales, d }
}

fn input_end(parts: &Parts) -> usize {
    match parts {
        Parts::Warp { c, scales, .. } => scales.map_or(c.end(), |s| s.end()),
        _ => unreachable!(),
    }
}

/// m8n8k4 with fp16 multiplicands (9.7.14.5.1): four products, one for each quad pair (threads 4q..4q+3 and
/// 16+4q..16+4q+3). A row-major, B column-major: both row/column (lane & 3) + 4*(lane >= 16), k = element.
/// fp16 accumulators: row as A's, column = element; fp32: row (lane & 1) + (i & 2) + 4*(lane >= 16), column
/// (i & 4) + (lane & 2) + (i & 1).
fn volta(i: &Instruction) -> Layout {
    let parts = registers(i, 2, 2, 4, 8, false);
    let Parts::Warp { a: ra, b: rb, c: rc, d: rd, .. } = parts else { unreachable!() };
    let mut a = Matrix::new(16);
    let mut b = Matrix::new(16);
    let mut c = Matrix::new(i.c.bits());
    let mut d = Matrix::new(i.d.bits());
    for lane in 0..LANES {
        let block = (lane >> 2) & 3;
        let half = 4 * (lane >> 4);
        for k in 0..4 {
            a.put(block, (lane & 3) + half, k, ra.bit(k / 2, lane) + 16 * (k % 2));
            b.put(block, k, (lane & 3) + half, rb.bit(k / 2, lane) + 16 * (k % 2));
        }
        let position = |format: Format, e: usize| match format {
            Format::Fp16 => ((lane & 3) + half, e),
            _ => ((lane & 1) + (e & 2) + half, (e & 4) + (lane & 2) + (e & 1)),
        };
        for e in 0..8 {
            let (row, col) = position(i.c, e);
            c.put(block, row, col, accumulator(&rc, lane, e, i.c));
            let (row, col) = position(i.d, e);
            d.put(block, row, col, accumulator(&rd, lane, e, i.d));
        }
    }
    Layout {
        input_bytes: input_end(&parts),
        output_bytes: rd.end(),
        a,
        b,
        c,
        d,
        scale_a: None,
        scale_b: None,
        sparse: None,
        parts,
    }
}
