//! The generic path over a tile and over a batch of dot products.

use crate::cells::Cells;
use crate::events::{Counts, Events};
use crate::operand::{Inputs, Matrix, Side};
use crate::program::Program;
use crate::terms::Line;
use std::ops::Range;

/// Decoded elements held at once; bounds the memory of a tile's column panel to 8 MiB of 16-byte elements.
const PANEL_ELEMS: usize = 1 << 19;
const PANEL_COLUMNS: usize = 64;

/// Rows and columns of a result, the chain that leads to them, c and d by global row and column.
pub struct Tile<'a> {
    pub rows: Range<usize>,
    pub cols: Range<usize>,
    pub chain: &'a [Range<usize>],
    /// Absent: +0.
    pub c: Option<Cells>,
    pub d: Cells,
}

impl Tile<'_> {
    /// Checks the tile against the inputs and the chain's rules; the error names what does not fit.
    pub fn check(&self, program: &Program, inputs: &Inputs<'_>) -> Result<(), String> {
        let op = &program.op;
        for (name, range, limit) in [("m", &self.rows, inputs.m), ("n", &self.cols, inputs.n)] {
            if range.start > range.end || range.end > limit {
                return Err(format!("tile {name}: expected a range inside 0..{limit}, got {range:?}"));
            }
        }
        for (i, range) in self.chain.iter().enumerate() {
            if range.start > range.end || range.end > inputs.k {
                return Err(format!(
                    "tile chain {i}: expected a range inside 0..{}, got {range:?}",
                    inputs.k
                ));
            }
            if i + 1 < self.chain.len() && !range.len().is_multiple_of(op.k) {
                return Err(format!(
                    "tile chain {i}: expected a multiple of {} k positions before the last range, got {}",
                    op.k,
                    range.len()
                ));
            }
        }
        if let Some(c) = &self.c {
            c.check("c", op.c.word_bytes(), self.rows.clone(), self.cols.clone())?;
        }
        self.d.check("d", op.d.word_bytes(), self.rows.clone(), self.cols.clone())
    }
}

/// Runs a checked tile element by element.
pub fn tile(program: &Program, inputs: &Inputs<'_>, tile: &Tile<'_>, counts: &mut Counts) {
    let length: usize = tile.chain.iter().map(|range| range.len()).sum();
    let columns = (PANEL_ELEMS / length.max(1)).clamp(1, PANEL_COLUMNS);
    let decoder = program.decoder(inputs);
    let mut panel = vec![Line::default(); columns];
    let mut row = Line::default();
    let mut element = Element::new(program);
    for start in tile.cols.clone().step_by(columns) {
        let cols = start..(start + columns).min(tile.cols.end);
        for (col, line) in cols.clone().zip(&mut panel) {
            decoder.line(Side::B, col, tile.chain, line);
        }
        for m in tile.rows.clone() {
            decoder.line(Side::A, m, tile.chain, &mut row);
            for (n, line) in cols.clone().zip(&panel) {
                element.run(&row, line, tile.c.as_ref(), &tile.d, (m, n), counts);
            }
        }
    }
}

/// Runs the elements `list` of a checked tile, (row, column) pairs in row order.
pub fn elements(
    program: &Program,
    inputs: &Inputs<'_>,
    tile: &Tile<'_>,
    list: &[(usize, usize)],
    counts: &mut Counts,
) {
    let length: usize = tile.chain.iter().map(|range| range.len()).sum();
    let columns = (PANEL_ELEMS / length.max(1)).clamp(1, PANEL_COLUMNS);
    let decoder = program.decoder(inputs);
    let mut wanted: Vec<usize> = list.iter().map(|&(_, col)| col).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut panel = vec![Line::default(); columns];
    let (mut row, mut decoded) = (Line::default(), None);
    let mut element = Element::new(program);
    for cols in wanted.chunks(columns) {
        for (&col, line) in cols.iter().zip(&mut panel) {
            decoder.line(Side::B, col, tile.chain, line);
        }
        for &(m, n) in list {
            let Ok(at) = cols.binary_search(&n) else { continue };
            if decoded != Some(m) {
                decoder.line(Side::A, m, tile.chain, &mut row);
                decoded = Some(m);
            }
            element.run(&row, &panel[at], tile.c.as_ref(), &tile.d, (m, n), counts);
        }
    }
}

/// Runs single elements of c and d.
pub struct Element<'a> {
    program: &'a Program,
    runner: Box<dyn crate::program::Chain>,
}

impl<'a> Element<'a> {
    pub fn new(program: &'a Program) -> Element<'a> {
        Element { program, runner: program.runner() }
    }

    pub fn run(
        &mut self,
        a: &Line,
        b: &Line,
        c: Option<&Cells>,
        d: &Cells,
        (m, n): (usize, usize),
        counts: &mut Counts,
    ) {
        let op = &self.program.op;
        let mut events = Events::default();
        let c = c.map_or(0, |c| c.get(op.c.word_bytes(), m, n));
        let word = self.runner.run(self.program, a, b, c, &mut events);
        counts.add(events);
        d.set(op.d.word_bytes(), m, n, word);
    }
}

/// `count` independent dot products, case i at a[i*k ...].
pub struct Dots<'a> {
    pub count: usize,
    pub k: usize,
    pub a: &'a [u8],
    pub b: &'a [u8],
    /// Absent: +0.
    pub c: Option<Cells>,
    pub scale_a: Option<&'a [u8]>,
    pub scale_b: Option<&'a [u8]>,
    pub sparse: Option<&'a [u8]>,
    pub d: Cells,
}

impl<'a> Dots<'a> {
    /// The batch as a GEMM of count x count outputs, of which the diagonal is wanted.
    pub fn inputs(&self, program: &Program) -> Inputs<'a> {
        let op = &program.op;
        let blocks = op.scaling.as_ref().map_or(0, |scaling| self.k.div_ceil(scaling.block));
        let words = op.sparsity.map_or(0, |sparsity| self.k.div_ceil(sparsity.positions_per_word()));
        let columns =
            |bytes, length: usize| Matrix { bytes, offset: 0, row_stride: 1, col_stride: length as i64 };
        Inputs {
            m: self.count,
            n: self.count,
            k: self.k,
            a: Matrix::rows(self.a, self.k),
            b: columns(self.b, self.k),
            scale_a: self.scale_a.map(|bytes| Matrix::rows(bytes, blocks)),
            scale_b: self.scale_b.map(|bytes| columns(bytes, blocks)),
            sparse: self.sparse.map(|bytes| Matrix::rows(bytes, words)),
        }
    }

    /// Case `case` as a GEMM of one element.
    pub fn case(&self, program: &Program, case: usize) -> Inputs<'a> {
        let all = self.inputs(program);
        let row = |x: Matrix<'a>| Matrix { offset: x.offset + case as i64 * x.row_stride, ..x };
        let col = |x: Matrix<'a>| Matrix { offset: x.offset + case as i64 * x.col_stride, ..x };
        Inputs {
            m: 1,
            n: 1,
            k: self.k,
            a: row(all.a),
            b: col(all.b),
            scale_a: all.scale_a.map(row),
            scale_b: all.scale_b.map(col),
            sparse: all.sparse.map(row),
        }
    }

    /// Checks every array's length and every metadata selector.
    pub fn check(&self, program: &Program) -> Result<(), String> {
        let inputs = self.inputs(program);
        inputs.check(&program.op)?;
        inputs.check_metadata(&program.op)?;
        if let Some(c) = &self.c {
            c.check("c", program.op.c.word_bytes(), 0..self.count, 0..1)?;
        }
        self.d.check("d", program.op.d.word_bytes(), 0..self.count, 0..1)
    }
}

/// Runs a checked batch. c and d are columns: case i at row i.
pub fn dots(program: &Program, batch: &Dots<'_>, counts: &mut Counts) {
    let inputs = batch.inputs(program);
    let decoder = program.decoder(&inputs);
    let (mut a, mut b) = (Line::default(), Line::default());
    let mut element = Element::new(program);
    let whole = 0..batch.k;
    for case in 0..batch.count {
        decoder.line(Side::A, case, std::slice::from_ref(&whole), &mut a);
        decoder.line(Side::B, case, std::slice::from_ref(&whole), &mut b);
        element.run(&a, &b, batch.c.as_ref(), &batch.d, (case, 0), counts);
    }
}
