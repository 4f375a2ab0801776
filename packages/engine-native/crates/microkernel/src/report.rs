//! Which elements a tile call computed, and which it hands back.

use core::ops::Range;

/// Elements by the way they were computed; the last three are handed back, once each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Computed by the kernel's general loop.
    pub kernel: u64,
    /// Computed by the kernel's exact fast path (no term of the tile needs a cut).
    pub exact: u64,
    /// Handed back: a non-finite word in the row of A or the column of B.
    pub nonfinite: u64,
    /// Handed back: c non-finite or outside the kernel's range.
    pub addend: u64,
    /// Handed back: a result overflowed or left the kernel's range.
    pub range: u64,
}

impl Counts {
    pub fn fallback(&self) -> u64 {
        self.nonfinite + self.addend + self.range
    }
}

/// Flags of the latest tile, counts since creation. Reuse one per thread.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub counts: Counts,
    rows: Range<usize>,
    cols: Range<usize>,
    stride: usize,
    flags: Vec<u64>,
}

impl Report {
    pub(crate) fn start(&mut self, rows: Range<usize>, cols: Range<usize>) {
        self.stride = cols.len().div_ceil(64);
        self.flags.clear();
        self.flags.resize(rows.len() * self.stride, 0);
        self.rows = rows;
        self.cols = cols;
    }

    #[inline(always)]
    pub(crate) fn flag(&mut self, row: usize, col: usize) {
        let c = col - self.cols.start;
        self.flags[(row - self.rows.start) * self.stride + c / 64] |= 1 << (c % 64);
    }

    /// Global (row, column) of every element of the latest tile that the caller has to compute.
    pub fn flagged(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.flags.iter().enumerate().filter(|(_, w)| **w != 0).flat_map(move |(i, w)| {
            let (row, col) = (self.rows.start + i / self.stride, self.cols.start + i % self.stride * 64);
            let mut bits = *w;
            core::iter::from_fn(move || {
                (bits != 0).then(|| {
                    let bit = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    (row, col + bit)
                })
            })
        })
    }

    /// How many elements [`Report::flagged`] yields.
    pub fn flagged_len(&self) -> usize {
        self.flags.iter().map(|w| w.count_ones() as usize).sum()
    }
}
