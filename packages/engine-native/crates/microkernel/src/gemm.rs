//! The loop nest around the micro-kernels: row blocks of A, panels of B, then K in order inside the micro-kernel.

use core::fmt;
use core::ops::Range;

use crate::PANEL;
use crate::microkernel::{Block, Micro};
use crate::params::{Output, Params};
use crate::report::Report;
use crate::words::{Out, View, Words};

/// Rows of A packed at once: its panel then stays in the L2 cache for K of a few thousand.
pub const ROW_BLOCK: usize = 128;

/// Sizes of the whole product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// Rows, columns and chain of one tile. Every range of the chain but the last is a multiple of the instruction's K.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub rows: &'a Range<usize>,
    pub cols: &'a Range<usize>,
    pub chain: &'a [Range<usize>],
}

/// Why a kernel cannot run a tile at all: the caller takes its generic path for all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

/// A micro-kernel bound to one op.
pub struct Kernel {
    params: Params,
    /// Chain ranges start at multiples of this.
    step: usize,
    micro: Box<dyn Micro>,
    exact: bool,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).field("params", &self.params).finish()
    }
}

impl Kernel {
    pub(crate) fn new(params: Params, step: usize, micro: Box<dyn Micro>) -> Self {
        Kernel { params, step, micro, exact: true }
    }

    /// Turns the exact fast path, taken by default where no term of a segment needs a cut, on or off.
    pub fn with_exact_path(self, exact: bool) -> Self {
        Kernel { exact, ..self }
    }

    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Instruction set and family, `avx512/fused-window-f32`.
    pub fn name(&self) -> &'static str {
        self.micro.name()
    }

    /// Panels of an n-column B.
    pub fn panels(&self, n: usize) -> usize {
        n.div_ceil(PANEL)
    }

    /// u64 words of one packed panel; panel p of B begins at `p * panel_len(k)`.
    pub fn panel_len(&self, k: usize) -> usize {
        (self.micro.b_len(k) + 1).next_multiple_of(8)
    }

    /// u64 words of the whole packed B. Plain memory without pointers: it may be shared between threads. It is
    /// fastest where it begins at a multiple of 64 bytes.
    pub fn packed_b_len(&self, shape: Shape) -> usize {
        self.panels(shape.n) * self.panel_len(shape.k)
    }

    /// Packs panels `panels` of B (k x n) into `out`, which holds those panels only; disjoint ranges may be packed by
    /// different threads.
    pub fn pack_b(&self, b: &View<'_>, shape: Shape, panels: Range<usize>, out: &mut [u64]) {
        assert!(b.holds(shape.k, shape.n), "B does not hold {} x {} elements", shape.k, shape.n);
        let len = self.panel_len(shape.k);
        for (panel, out) in panels.zip(out.chunks_exact_mut(len)) {
            let cols = panel * PANEL..shape.n.min((panel + 1) * PANEL);
            let bad = self.micro.pack_b(b, cols, shape.k, &mut out[..len - 1]);
            out[len - 1] = bad;
        }
    }

    /// u64 words of scratch memory that a tile call needs: the panel of A has no more rows than A.
    pub fn scratch_len(&self, shape: Shape) -> usize {
        self.micro.a_len(ROW_BLOCK.min(shape.m), shape.k) + ROW_BLOCK * PANEL / 2 + ROW_BLOCK * 2 + 8
    }

    /// Computes one tile: rows of `a` (m x k) by the packed B, from `c` (absent: +0) along the chain, into `d`.
    /// `c` and `d` are indexed by global row and column and may share memory. Flagged elements are not written.
    #[allow(clippy::too_many_arguments)]
    pub fn tile(
        &self,
        a: &View<'_>,
        packed_b: &[u64],
        shape: Shape,
        job: Job<'_>,
        c: Option<&View<'_>>,
        d: &mut Out,
        scratch: &mut [u64],
        report: &mut Report,
    ) -> Result<(), Unsupported> {
        self.check(a, packed_b, shape, job, c, d, scratch)?;
        report.start(job.rows.clone(), job.cols.clone());
        if job.rows.is_empty() || job.cols.is_empty() {
            return Ok(());
        }
        let scratch = align(scratch);
        let (flags, scratch) = scratch.split_at_mut(ROW_BLOCK * 2);
        let (ctile, pa) = scratch.split_at_mut(ROW_BLOCK * PANEL / 2);
        let ctile = as_u32(ctile);
        let (row_bad, bad) = flags.split_at_mut(ROW_BLOCK);
        let panel_len = self.panel_len(shape.k);
        let mut row0 = job.rows.start;
        while row0 < job.rows.end {
            let rows = ROW_BLOCK.min(job.rows.end - row0);
            let pa = &mut pa[..self.micro.a_len(rows, shape.k)];
            row_bad.fill(0);
            self.micro.pack_a(a, row0..row0 + rows, shape.k, pa, row_bad);
            for panel in job.cols.start / PANEL..job.cols.end.div_ceil(PANEL) {
                let packed = &packed_b[panel * panel_len..][..panel_len];
                let c0 = job.cols.start.max(panel * PANEL);
                let c1 = job.cols.end.min((panel + 1) * PANEL);
                let cols = c0 - panel * PANEL..c1 - panel * PANEL;
                let live = (u64::MAX >> (64 - cols.len())) << cols.start;
                ctile.fill(0);
                if let Some(c) = c {
                    for r in 0..rows {
                        for j in cols.clone() {
                            ctile[r * PANEL + j] = c.get(row0 + r, panel * PANEL + j);
                        }
                    }
                }
                for r in 0..rows {
                    let mut nonfinite = row_bad[r] | packed[panel_len - 1];
                    let mut addend = 0;
                    if c.is_some() {
                        for j in cols.clone() {
                            let ok = self.micro.addend_ok(ctile[r * PANEL + j]);
                            addend |= u64::from(!ok) << j;
                            if !ok {
                                ctile[r * PANEL + j] = 0;
                            }
                        }
                    }
                    nonfinite &= live;
                    addend &= live & !nonfinite;
                    report.counts.nonfinite += u64::from(nonfinite.count_ones());
                    report.counts.addend += u64::from(addend.count_ones());
                    bad[r] = nonfinite | addend | !live;
                }
                for r in rows..ROW_BLOCK {
                    bad[r] = u64::MAX;
                }
                let before: u32 = bad[..rows].iter().map(|w| w.count_ones()).sum();
                let exact = self.micro.run(Block {
                    a: pa,
                    b: &packed[..panel_len - 1],
                    rows,
                    k: shape.k,
                    chain: job.chain,
                    exact: self.exact,
                    c: ctile,
                    bad,
                });
                let after: u32 = bad[..rows].iter().map(|w| w.count_ones()).sum();
                report.counts.range += u64::from(after - before);
                let done = (rows * PANEL) as u64 - u64::from(after);
                *(if exact { &mut report.counts.exact } else { &mut report.counts.kernel }) += done;
                for r in 0..rows {
                    if bad[r] & live == 0 {
                        d.put_row(row0 + r, c0, &ctile[r * PANEL..][cols.clone()]);
                        continue;
                    }
                    for j in cols.clone() {
                        if bad[r] >> j & 1 == 0 {
                            d.put(row0 + r, panel * PANEL + j, ctile[r * PANEL + j]);
                        } else {
                            report.flag(row0 + r, panel * PANEL + j);
                        }
                    }
                }
            }
            row0 += rows;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn check(
        &self,
        a: &View<'_>,
        packed_b: &[u64],
        shape: Shape,
        job: Job<'_>,
        c: Option<&View<'_>>,
        d: &Out,
        scratch: &[u64],
    ) -> Result<(), Unsupported> {
        let wide = if self.params.output == Output::Fp16Rne { 16 } else { 32 };
        assert!(job.rows.end <= shape.m && job.cols.end <= shape.n, "tile outside {shape:?}");
        assert!(a.holds(shape.m, shape.k), "A does not hold {} x {} elements", shape.m, shape.k);
        assert!(packed_b.len() >= self.packed_b_len(shape), "packed B too short");
        assert!(scratch.len() >= self.scratch_len(shape), "scratch too short");
        assert!(d.width() == wide && d.holds(job.rows, job.cols), "d does not hold the tile");
        if let Some(c) = c {
            let words = match c.words {
                Words::U8(_) => 8,
                Words::U16(_) => 16,
                Words::U32(_) => 32,
            };
            assert!(words == wide && c.holds(job.rows.end, job.cols.end), "c does not hold the tile");
        }
        for (i, r) in job.chain.iter().enumerate() {
            let last = i + 1 == job.chain.len();
            if r.start > r.end || r.end > shape.k || (!last && r.len() % self.params.k != 0) {
                return Err(Unsupported(format!("chain range {r:?} of K {} at {i}", shape.k)));
            }
            // A range that ends inside a packed block would take terms beyond its end.
            let open = r.end % self.step != 0 && r.end != shape.k;
            if !r.is_empty() && (r.start % self.step != 0 || open) {
                return Err(Unsupported(format!("chain range {r:?} splits a packed block of {}", self.step)));
            }
        }
        Ok(())
    }
}

/// The part of `scratch` that begins at a multiple of 64 bytes; `scratch_len` leaves room for it.
fn align(scratch: &mut [u64]) -> &mut [u64] {
    let skip = scratch.as_ptr().align_offset(64).min(8);
    &mut scratch[skip..]
}

fn as_u32(words: &mut [u64]) -> &mut [u32] {
    // SAFETY: u64 is aligned for u32, every bit pattern is valid, the length covers the same bytes.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 2) }
}
