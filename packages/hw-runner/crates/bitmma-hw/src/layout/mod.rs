//! Where every element of an instruction's operands lies in the bytes that its kernel reads and writes.
//!
//! A kernel moves one case's input image to registers, shared or tensor memory, issues one instruction and stores
//! the accumulator as the output image; all knowledge of fragments is here, as tables of slots.

pub mod mfma;
pub mod mma_sync;
pub mod smem;
pub mod tcgen05;
pub mod wgmma;

use crate::instruction::{Family, Instruction};

/// One copy of one element: (block, row, column) of its matrix, and its first bit in the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub block: u16,
    pub row: u16,
    pub col: u16,
    pub bit: u32,
}

/// A matrix in an image; an element may have several copies (scale factors are duplicated across lanes).
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    pub bits: u32,
    pub slots: Vec<Slot>,
}

impl Matrix {
    pub fn new(bits: u32) -> Matrix {
        Matrix { bits, slots: Vec::new() }
    }

    pub fn put(&mut self, block: usize, row: usize, col: usize, bit: usize) {
        self.slots.push(Slot { block: block as u16, row: row as u16, col: col as u16, bit: bit as u32 });
    }
}

/// Registers of all lanes, register-major: register r of lane l at base + (r * lanes + l) * bytes.
#[derive(Debug, Clone, Copy)]
pub struct Registers {
    pub base: usize,
    pub lanes: usize,
    pub count: usize,
    /// 4, or 8 for a 64-bit register.
    pub bytes: usize,
}

impl Registers {
    pub fn bit(&self, register: usize, lane: usize) -> usize {
        debug_assert!(register < self.count && lane < self.lanes);
        8 * (self.base + (register * self.lanes + lane) * self.bytes)
    }

    pub fn end(&self) -> usize {
        self.base + self.count * self.lanes * self.bytes
    }
}

/// The images of one case. A's columns are stored k positions (half of the logical ones where sparse), scale
/// matrices are row x K block (A) and K block x column (B), `sparse` is row x chunk with 4-bit selectors.
#[derive(Debug, Clone)]
pub struct Layout {
    pub input_bytes: usize,
    pub output_bytes: usize,
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
    pub d: Matrix,
    pub scale_a: Option<Matrix>,
    pub scale_b: Option<Matrix>,
    pub sparse: Option<Matrix>,
    /// What the kernel moves: meaning per family, see the kernel generators.
    pub parts: Parts,
}

#[derive(Debug, Clone)]
pub enum Parts {
    /// mma.sync and MFMA: registers of A, B, C, the two scale words, and D.
    Warp { a: Registers, b: Registers, c: Registers, scales: Option<Registers>, d: Registers },
    /// wgmma: bytes of A and of B in shared memory (A first), accumulator registers in and out.
    Warpgroup { a_bytes: usize, b_bytes: usize, c: Registers, d: Registers },
    /// tcgen05: shared memory as above, then tensor memory columns: C, and the scale and metadata words.
    Tensor { a_bytes: usize, b_bytes: usize, c: Registers, extra: Option<Registers>, d: Registers },
}

impl Layout {
    pub fn of(instruction: &Instruction) -> Layout {
        match instruction.family {
            Family::MmaSync => mma_sync::layout(instruction),
            Family::Wgmma => wgmma::layout(instruction),
            Family::Tcgen05 => tcgen05::layout(instruction),
            Family::Mfma => mfma::layout(instruction),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Every element of every matrix is placed, inside its image, and no two elements of the input overlap.
    pub fn check(name: &str) {
        let i = Instruction::parse(name).unwrap();
        let l = Layout::of(&i);
        let mut used: HashSet<usize> = HashSet::new();
        let place = |m: &Matrix, rows: usize, cols: usize, bytes: usize, what: &str, used: &mut HashSet<usize>| {
            let mut seen = HashSet::new();
            for s in &m.slots {
                seen.insert((s.block, s.row, s.col));
                assert!((s.row as usize) < rows && (s.col as usize) < cols, "{name} {what} {s:?}");
                for bit in s.bit..s.bit + m.bits {
                    assert!((bit as usize) < 8 * bytes, "{name} {what} {s:?} outside");
                    assert!(used.insert(bit as usize), "{name} {what} {s:?} overlaps");
                }
            }
            assert_eq!(seen.len(), rows * cols * i.blocks, "{name} {what} complete");
        };
        place(&l.a, i.m, i.stored_k(), l.input_bytes, "a", &mut used);
        place(&l.b, i.k, i.n, l.input_bytes, "b", &mut used);
        place(&l.c, i.m, i.n, l.input_bytes, "c", &mut used);
        if let (Some(sa), Some(sb)) = (&l.scale_a, &l.scale_b) {
            place(sa, i.m, i.scale_words(), l.input_bytes, "scaleA", &mut used);
            place(sb, i.scale_words(), i.n, l.input_bytes, "scaleB", &mut used);
        }
        if let (Some(s), Some(rule)) = (&l.sparse, i.sparsity) {
            place(s, i.m, i.k / rule.chunk(), l.input_bytes, "sparse", &mut used);
        }
        place(&l.d, i.m, i.n, l.output_bytes, "d", &mut HashSet::new());
    }

    #[test]
    fn layouts_are_complete() {
        for name in crate::forms::all_names() {
            check(&name);
        }
    }
}
