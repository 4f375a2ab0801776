//! Strided views over words, and their decoding to lines of elements.

use crate::format::Format;
use crate::mutants::{self, Mutant};
use crate::spec::{MmaOp, Sparsity};
use crate::terms::{Elem, Line, PADDING};
use std::ops::Range;

/// Words of one matrix. Strides and offset count elements.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    pub bytes: &'a [u8],
    pub offset: i64,
    pub row_stride: i64,
    pub col_stride: i64,
}

impl<'a> Matrix<'a> {
    /// A matrix whose rows follow each other.
    pub fn rows(bytes: &'a [u8], columns: usize) -> Matrix<'a> {
        Matrix { bytes, offset: 0, row_stride: columns as i64, col_stride: 1 }
    }

    /// The word at element index `index`, little-endian.
    fn word(&self, word_bytes: usize, index: i64) -> u64 {
        let start = index as usize * word_bytes;
        let bytes = &self.bytes[start..start + word_bytes];
        match *bytes {
            [byte] => byte.into(),
            [a, b] => u16::from_le_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
            _ => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        }
    }

    /// Checks that every element of a rows x cols matrix lies inside the words.
    pub fn check(&self, name: &str, word_bytes: usize, rows: usize, cols: usize) -> Result<(), String> {
        check_span(
            name,
            self.bytes.len() / word_bytes,
            self.offset,
            (rows, self.row_stride),
            (cols, self.col_stride),
        )
    }
}

/// Checks that offset + i*stride, over every index of both axes, lies in 0..len.
pub fn check_span(
    name: &str,
    len: usize,
    offset: i64,
    (rows, row_stride): (usize, i64),
    (cols, col_stride): (usize, i64),
) -> Result<(), String> {
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let span = |count: usize, stride: i64| (count as i128 - 1) * i128::from(stride);
    let (r, c) = (span(rows, row_stride), span(cols, col_stride));
    let low = i128::from(offset) + r.min(0) + c.min(0);
    let high = i128::from(offset) + r.max(0) + c.max(0);
    if low < 0 || high >= len as i128 {
        return Err(format!(
            "operand {name}: expected elements {low}..={high} of {rows} x {cols} with offset {offset}, strides \
             {row_stride} and {col_stride} inside its words, got {len} elements"
        ));
    }
    Ok(())
}

impl Sparsity {
    /// k positions that one 4-bit selector covers.
    pub fn chunk(self) -> usize {
        match self {
            Sparsity::OneOfTwo => 2,
            Sparsity::TwoOfFour => 4,
            Sparsity::PairsOfEight => 8,
        }
    }

    /// k positions that one metadata word covers.
    pub fn positions_per_word(self) -> usize {
        8 * self.chunk()
    }

    /// Active positions of a chunk, one bit each; None for a selector that has no meaning.
    pub fn active(self, selector: u32) -> Option<u32> {
        let low = selector & 3;
        let fields = [low, if mutants::on(Mutant::OneField) { low } else { selector >> 2 & 3 }];
        match self {
            Sparsity::OneOfTwo => match selector {
                0x4 => Some(0b01),
                0xe => Some(0b10),
                _ => None,
            },
            _ if !matches!(selector, 0x4 | 0x6 | 0x8 | 0x9 | 0xc | 0xd | 0xe) => None,
            Sparsity::TwoOfFour => Some(fields.iter().fold(0, |mask, at| mask | 1 << at)),
            Sparsity::PairsOfEight => Some(fields.iter().fold(0, |mask, at| mask | 3 << (2 * at))),
        }
    }
}

/// The inputs of a GEMM. a is m x k, b is k x n.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Matrix<'a>,
    pub b: Matrix<'a>,
    /// m x ceil(k / block).
    pub scale_a: Option<Matrix<'a>>,
    /// ceil(k / block) x n.
    pub scale_b: Option<Matrix<'a>>,
    /// m x ceil(k / positions per word) 32-bit words.
    pub sparse: Option<Matrix<'a>>,
}

impl<'a> Inputs<'a> {
    /// Checks every metadata selector of checked operands.
    pub fn check_metadata(&self, op: &MmaOp) -> Result<(), String> {
        match (op.sparsity, &self.sparse) {
            (Some(sparsity), Some(metadata)) => {
                (0..self.m).try_for_each(|row| check_selectors(sparsity, metadata, row, self.k))
            }
            _ => Ok(()),
        }
    }

    /// Checks presence and extent of every operand.
    pub fn check(&self, op: &MmaOp) -> Result<(), String> {
        let Inputs { m, n, k, .. } = *self;
        self.a.check("a", op.a.word_bytes(), m, k)?;
        self.b.check("b", op.b.word_bytes(), k, n)?;
        match (&op.scaling, &self.scale_a, &self.scale_b) {
            (Some(scaling), Some(a), Some(b)) => {
                let blocks = k.div_ceil(scaling.block);
                a.check("scaleA", 1, m, blocks)?;
                b.check("scaleB", 1, blocks, n)?;
            }
            (Some(_), _, _) => return Err("operands scaleA, scaleB: expected both, got none or one".into()),
            (None, None, None) => {}
            (None, _, _) => return Err("operands scaleA, scaleB: this op has no scales".into()),
        }
        match (op.sparsity, &self.sparse) {
            (Some(sparsity), Some(metadata)) => {
                metadata.check("sparse", 4, m, k.div_ceil(sparsity.positions_per_word()))
            }
            (Some(_), None) => Err("operand sparse: expected metadata words, got none".into()),
            (None, Some(_)) => Err("operand sparse: this op is dense".into()),
            (None, None) => Ok(()),
        }
    }
}

fn selector(metadata: &Matrix<'_>, row: usize, chunk: usize) -> u32 {
    let index = metadata.offset + row as i64 * metadata.row_stride + (chunk / 8) as i64 * metadata.col_stride;
    (metadata.word(4, index) >> (4 * (chunk % 8)) & 15) as u32
}

fn check_selectors(sparsity: Sparsity, metadata: &Matrix<'_>, row: usize, k: usize) -> Result<(), String> {
    for chunk in 0..k.div_ceil(sparsity.chunk()) {
        let selector = selector(metadata, row, chunk);
        if sparsity.active(selector).is_none() {
            return Err(format!(
                "operand sparse, row {row}, chunk {chunk}: selector {selector:#x} names no positions"
            ));
        }
    }
    Ok(())
}

/// Which operand a line is decoded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A row of a.
    A,
    /// A column of b.
    B,
}

/// Decodes rows of a and columns of b.
#[derive(Clone, Copy)]
pub struct Decoder<'a> {
    pub op: &'a MmaOp,
    pub inputs: &'a Inputs<'a>,
    /// Subnormal operands become zeros.
    pub flush: bool,
    /// Program::order.
    pub order: &'a [usize],
    /// Whether lines carry their elements as host numbers.
    pub floats: bool,
}

impl Decoder<'_> {
    /// The line `index` over the ranges of a chain, padded to a whole number of instructions: with
    /// +0, in sparse ops with positions that no selector names.
    pub fn line(&self, side: Side, index: usize, chain: &[Range<usize>], line: &mut Line) {
        line.elems.clear();
        line.scales.clear();
        for range in chain {
            self.append(side, index, range.clone(), line);
        }
        let padded = line.elems.len().next_multiple_of(self.op.k);
        let padding = if self.op.sparsity.is_some() { PADDING.absent() } else { PADDING };
        line.elems.resize(padded, padding);
        if self.op.scaling.is_some() {
            line.scales.resize(padded, 0);
        }
        line.floats.clear();
        if self.floats {
            let format = if side == Side::A { self.op.a } else { self.op.b };
            line.floats.extend(line.elems.iter().map(|elem| elem.float(format.fraction_bits as i32)));
        }
        if !self.order.is_empty() {
            let mut natural = vec![PADDING; self.op.k];
            for instruction in line.elems.chunks_exact_mut(self.op.k) {
                natural.copy_from_slice(instruction);
                for (elem, &k) in instruction.iter_mut().zip(self.order) {
                    *elem = natural[k];
                }
            }
        }
    }

    fn append(&self, side: Side, index: usize, range: Range<usize>, line: &mut Line) {
        let index = index as i64;
        let (format, matrix): (&Format, &Matrix<'_>) = match side {
            Side::A => (self.op.a, &self.inputs.a),
            Side::B => (self.op.b, &self.inputs.b),
        };
        let (start, step) = along(side, matrix, index);
        let first = line.elems.len();
        let word_bytes = format.word_bytes();
        line.elems.extend(
            range
                .clone()
                .map(|k| Elem::decode(format, matrix.word(word_bytes, start + k as i64 * step), self.flush)),
        );
        let elems = &mut line.elems[first..];
        if let (Side::A, Some(sparsity), Some(metadata)) = (side, self.op.sparsity, &self.inputs.sparse) {
            for (elem, k) in elems.iter_mut().zip(range.clone()) {
                let active = sparsity.active(selector(metadata, index as usize, k / sparsity.chunk()));
                if active.unwrap_or(0) >> (k % sparsity.chunk()) & 1 == 0 {
                    *elem = elem.absent();
                }
            }
        }
        let scale = match side {
            Side::A => &self.inputs.scale_a,
            Side::B => &self.inputs.scale_b,
        };
        if let (Some(scaling), Some(matrix)) = (&self.op.scaling, scale) {
            let (start, step) = along(side, matrix, index);
            for (elem, k) in elems.iter_mut().zip(range) {
                let word = matrix.word(1, start + (k / scaling.block) as i64 * step);
                let e = scaling.format.decode(word).e;
                *elem = elem.scaled(Elem::decode(scaling.format, word, false), e);
                line.scales.push(e);
            }
        }
    }
}

/// Index of a line's first element and the distance to its next.
fn along(side: Side, matrix: &Matrix<'_>, index: i64) -> (i64, i64) {
    match side {
        Side::A => (matrix.offset + index * matrix.row_stride, matrix.col_stride),
        Side::B => (matrix.offset + index * matrix.col_stride, matrix.row_stride),
    }
}
