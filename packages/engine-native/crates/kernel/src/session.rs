//! One op on one kernel: packing, tiles, batches, counts.

use crate::cells::Cells;
use crate::events::{Counts, NAMES};
use crate::gemm::{self, Dots, Tile};
use crate::micro::{self, GENERIC};
use crate::operand::Inputs;
use crate::panels::Panels;
use crate::program::Program;
use crate::spec::MmaOp;
use bitmma_microkernel::{Job, Kernel, Report};
use std::ops::Range;

/// Why something was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Operands, a tile or a batch that do not fit the op.
    Input(String),
    /// An op or kernel that is not supported here.
    Unsupported(String),
}

/// Runs one op. Not shared between threads: each opens its own.
pub struct Session {
    program: Program,
    fast: Option<(&'static str, Kernel)>,
    counts: Counts,
    /// Elements that the generic path computed.
    generic: u64,
    scratch: Vec<u64>,
    report: Report,
}

/// Kernels of an op on this machine, or why there is none.
pub fn supports(json: &str) -> Result<Vec<&'static str>, String> {
    let op = MmaOp::parse(json)?;
    let program = Program::new(op)?;
    Ok(micro::kernels(&program.op))
}

impl Session {
    /// Opens an op from its JSON; `kernel` forces one of `supports`.
    pub fn open(json: &str, kernel: Option<&str>) -> Result<Session, Refusal> {
        let program = MmaOp::parse(json).and_then(Program::new).map_err(Refusal::Unsupported)?;
        let fast = micro::select(&program.op, kernel).map_err(Refusal::Unsupported)?;
        Ok(Session {
            program,
            fast,
            counts: Counts::default(),
            generic: 0,
            scratch: Vec::new(),
            report: Report::default(),
        })
    }

    pub fn op(&self) -> &MmaOp {
        &self.program.op
    }

    pub fn kernel(&self) -> &'static str {
        self.fast.as_ref().map_or(GENERIC, |(name, _)| name)
    }

    /// Checks every operand's extent and every metadata selector.
    pub fn check(&self, inputs: &Inputs<'_>) -> Result<(), Refusal> {
        let op = &self.program.op;
        inputs.check(op).and_then(|()| inputs.check_metadata(op)).map_err(Refusal::Input)
    }

    /// u64 words that b packed takes; 0 where this kernel reads operands as they are.
    pub fn packed_len(&self, inputs: &Inputs<'_>) -> usize {
        match &self.fast {
            Some((_, kernel)) if micro::view(&inputs.b, self.op().b.word_bytes()).is_some() => {
                kernel.packed_b_len(micro::shape(inputs))
            }
            _ => 0,
        }
    }

    /// u64 words of b packed with the counters of those who pack it; 0 where this kernel reads operands as they are.
    pub fn shared_len(&self, inputs: &Inputs<'_>) -> usize {
        match (self.packed_len(inputs), &self.fast) {
            (0, _) | (_, None) => 0,
            (_, Some((_, kernel))) => {
                let shape = micro::shape(inputs);
                Panels::words(kernel.panels(shape.n), kernel.panel_len(shape.k))
            }
        }
    }

    /// Packs b into memory of shared_len words together with the threads that call this for the same memory, and
    /// returns it once all of it is packed; empty where shared_len is 0.
    ///
    /// # Safety
    /// As Panels::new; every caller has the same inputs and kernel.
    pub unsafe fn pack_shared<'a>(
        &self,
        inputs: &Inputs<'_>,
        memory: *mut u64,
    ) -> Result<&'a [u64], Refusal> {
        inputs.check(&self.program.op).map_err(Refusal::Input)?;
        let view = micro::view(&inputs.b, self.program.op.b.word_bytes());
        let (Some((_, kernel)), Some(view)) = (&self.fast, view) else { return Ok(&[]) };
        let shape = micro::shape(inputs);
        // SAFETY: the caller's.
        let panels = unsafe { Panels::new(memory, kernel.panels(shape.n), kernel.panel_len(shape.k)) };
        panels
            .fill(|range, out| kernel.pack_b(&view, shape, range, out))
            .ok_or_else(|| Refusal::Unsupported("b: a thread failed while it packed a panel".into()))
    }

    /// Packs b into `packed`, which holds packed_len words.
    fn pack(&self, inputs: &Inputs<'_>, packed: &mut [u64]) -> Result<(), Refusal> {
        inputs.check(&self.program.op).map_err(Refusal::Input)?;
        let view = micro::view(&inputs.b, self.program.op.b.word_bytes());
        if let (Some((_, kernel)), Some(view)) = (&self.fast, view) {
            let shape = micro::shape(inputs);
            kernel.pack_b(&view, shape, 0..kernel.panels(shape.n), packed);
        }
        Ok(())
    }

    /// Runs one tile. `packed`: what packing gave for these inputs, empty where packed_len is 0.
    pub fn tile(&mut self, inputs: &Inputs<'_>, packed: &[u64], tile: &Tile<'_>) -> Result<(), Refusal> {
        inputs.check(&self.program.op).map_err(Refusal::Input)?;
        tile.check(&self.program, inputs).map_err(Refusal::Input)?;
        if self.fast_tile(inputs, packed, tile) {
            let rest: Vec<(usize, usize)> = self.report.flagged().collect();
            self.generic += rest.len() as u64;
            gemm::elements(&self.program, inputs, tile, &rest, &mut self.counts);
        } else {
            self.generic += (tile.rows.len() * tile.cols.len()) as u64;
            gemm::tile(&self.program, inputs, tile, &mut self.counts);
        }
        Ok(())
    }

    /// Runs the tile on the micro-kernel; its report then flags what the generic path has to compute. False where the
    /// micro-kernel cannot run the tile at all.
    fn fast_tile(&mut self, inputs: &Inputs<'_>, packed: &[u64], tile: &Tile<'_>) -> bool {
        let op = &self.program.op;
        let Some((_, kernel)) = &self.fast else { return false };
        let shape = micro::shape(inputs);
        if packed.len() < kernel.packed_b_len(shape) {
            return false;
        }
        let Some(a) = micro::view(&inputs.a, op.a.word_bytes()) else { return false };
        let c = match &tile.c {
            None => None,
            Some(cells) => match cells.view(op.c.word_bytes()) {
                None => return false,
                view => view,
            },
        };
        let Some(mut d) = tile.d.out(op.d.word_bytes()) else { return false };
        let need = kernel.scratch_len(shape);
        if self.scratch.len() < need {
            self.scratch.resize(need, 0);
        }
        let job = Job { rows: &tile.rows, cols: &tile.cols, chain: tile.chain };
        kernel.tile(&a, packed, shape, job, c.as_ref(), &mut d, &mut self.scratch, &mut self.report).is_ok()
    }

    /// Runs a batch of independent dot products; on a micro-kernel each is a tile of one element.
    pub fn dots(&mut self, batch: &Dots<'_>) -> Result<(), Refusal> {
        batch.check(&self.program).map_err(Refusal::Input)?;
        if self.fast.is_none() {
            self.generic += batch.count as u64;
            gemm::dots(&self.program, batch, &mut self.counts);
            return Ok(());
        }
        let mut packed = Vec::new();
        for case in 0..batch.count {
            self.dot(batch, case, &mut packed)?;
        }
        Ok(())
    }

    fn dot(&mut self, batch: &Dots<'_>, case: usize, packed: &mut Vec<u64>) -> Result<(), Refusal> {
        let inputs = batch.case(&self.program, case);
        packed.resize(self.packed_len(&inputs), 0);
        self.pack(&inputs, packed)?;
        let whole: Range<usize> = 0..batch.k;
        let at = |cells: &Cells| cells.moved(case);
        let tile = Tile {
            rows: 0..1,
            cols: 0..1,
            chain: std::slice::from_ref(&whole),
            c: batch.c.as_ref().map(at),
            d: at(&batch.d),
        };
        self.tile(&inputs, packed, &tile)
    }

    /// Elements by kernel.
    pub fn kernel_counts(&self) -> Vec<(&'static str, u64)> {
        let fast = self.fast.as_ref().map(|(name, _)| {
            let counts = &self.report.counts;
            (*name, counts.kernel + counts.exact)
        });
        fast.into_iter().chain([(GENERIC, self.generic)]).filter(|&(_, count)| count > 0).collect()
    }

    /// Elements by rare path: the generic path's own, and what the micro-kernel handed to it.
    pub fn rare_counts(&self) -> Vec<(&'static str, u64)> {
        let given = &self.report.counts;
        let handed = [
            ("handed-back-non-finite", given.nonfinite),
            ("handed-back-addend", given.addend),
            ("handed-back-range", given.range),
            ("exact-fast-path", given.exact),
        ];
        NAMES.into_iter().zip(self.counts.0).chain(handed).filter(|&(_, count)| count > 0).collect()
    }
}
