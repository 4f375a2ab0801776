//! Packs a case into the input image of its kernel and reads the output image back.
//!
//! The case's row of A is repeated in every row and its column of B in every column, so that every output element is
//! the same dot product: all of them must agree.

use crate::case::Case;
use crate::instruction::Instruction;
use crate::layout::{Layout, Matrix, Slot};
use crate::probe::{active, MatrixProbe};

/// Bits of one word, and every place in the image that holds it.
struct Places {
    bits: u32,
    at: Vec<Vec<u32>>,
}

impl Places {
    fn by(matrix: &Matrix, count: usize, index: impl Fn(&Slot) -> usize) -> Places {
        let mut at = vec![Vec::new(); count];
        for slot in &matrix.slots {
            at[index(slot)].push(slot.bit);
        }
        Places { bits: matrix.bits, at }
    }

    fn write(&self, image: &mut [u8], index: usize, word: u64) {
        for &bit in &self.at[index] {
            put(image, bit, self.bits, word);
        }
    }
}

/// Writes `bits` low bits of `word` at `bit` of a zeroed image; a field lies within 8 bytes.
pub fn put(image: &mut [u8], bit: u32, bits: u32, word: u64) {
    let byte = (bit / 8) as usize;
    match (bit % 8, bits) {
        (0, 8) => image[byte] = word as u8,
        (0, 16) => image[byte..byte + 2].copy_from_slice(&(word as u16).to_le_bytes()),
        (0, 32) => image[byte..byte + 4].copy_from_slice(&(word as u32).to_le_bytes()),
        (0, 64) => image[byte..byte + 8].copy_from_slice(&word.to_le_bytes()),
        (shift, _) => {
            let mut value = word << shift;
            let mut left = shift + bits;
            let mut at = byte;
            while left > 0 {
                image[at] |= value as u8;
                value >>= 8;
                at += 1;
                left = left.saturating_sub(8);
            }
        }
    }
}

/// Reads `bits` bits at `bit`.
pub fn get(image: &[u8], bit: u32, bits: u32) -> u64 {
    let byte = (bit / 8) as usize;
    let bytes = (bit % 8 + bits).div_ceil(8) as usize;
    let mut buffer = [0u8; 8];
    buffer[..bytes].copy_from_slice(&image[byte..byte + bytes]);
    let word = u64::from_le_bytes(buffer) >> (bit % 8);
    if bits == 64 {
        word
    } else {
        word & ((1 << bits) - 1)
    }
}

/// What every output element said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Word(u64),
    /// Distinct words, most frequent first, with how many elements gave each and the first (block, row, column).
    Disagree(Vec<(u64, usize, (u16, u16, u16))>),
}

pub struct Packer {
    pub layout: Layout,
    k: usize,
    sparsity: Option<crate::instruction::Sparsity>,
    a: Places,
    b: Places,
    c: Vec<u32>,
    c_bits: u32,
    scale_a: Option<Places>,
    scale_b: Option<Places>,
    sparse: Option<Places>,
}

impl Packer {
    pub fn new(i: &Instruction) -> Packer {
        let layout = Layout::of(i);
        let chunks = i.sparsity.map_or(0, |s| i.k / s.chunk());
        Packer {
            k: i.k,
            sparsity: i.sparsity,
            a: Places::by(&layout.a, i.stored_k(), |s: &Slot| s.col as usize),
            b: Places::by(&layout.b, i.k, |s| s.row as usize),
            c: layout.c.slots.iter().map(|s| s.bit).collect(),
            c_bits: layout.c.bits,
            scale_a: layout.scale_a.as_ref().map(|m| Places::by(m, i.scale_words(), |s: &Slot| s.col as usize)),
            scale_b: layout.scale_b.as_ref().map(|m| Places::by(m, i.scale_words(), |s| s.row as usize)),
            sparse: layout.sparse.as_ref().map(|m| Places::by(m, chunks, |s: &Slot| s.col as usize)),
            layout,
        }
    }

    /// Fills one input image (`layout.input_bytes` long) from a case of exactly K positions.
    pub fn pack(&self, case: &Case, image: &mut [u8]) {
        debug_assert_eq!(case.a.len(), self.k);
        image.fill(0);
        match self.sparsity {
            None => {
                for (k, &word) in case.a.iter().enumerate() {
                    self.a.write(image, k, word);
                }
            }
            Some(rule) => {
                let mut stored = 0;
                for chunk in 0..self.k / rule.chunk() {
                    let selector = case.sparse[chunk / 8] >> (4 * (chunk % 8)) & 15;
                    for position in rule.active(selector) {
                        self.a.write(image, stored, case.a[chunk * rule.chunk() + position]);
                        stored += 1;
                    }
                    if let Some(places) = &self.sparse {
                        places.write(image, chunk, u64::from(selector));
                    }
                }
            }
        }
        for (k, &word) in case.b.iter().enumerate() {
            self.b.write(image, k, word);
        }
        let c = case.c.unwrap_or(0);
        for &bit in &self.c {
            put(image, bit, self.c_bits, c);
        }
        for (places, words) in [(&self.scale_a, &case.scale_a), (&self.scale_b, &case.scale_b)] {
            if let Some(places) = places {
                for (block, &word) in words.iter().enumerate() {
                    places.write(image, block, u64::from(word));
                }
            }
        }
    }

    /// Fills an input image with distinct rows and columns.
    pub fn pack_matrix(&self, i: &Instruction, probe: &MatrixProbe, image: &mut [u8]) {
        image.fill(0);
        let l = &self.layout;
        let stored: Vec<Vec<usize>> = probe.sparse.iter().map(|words| active(i, words)).collect();
        let at = |s: &Slot, rows: usize, cols: usize| (s.block as usize * rows + s.row as usize) * cols;
        for s in &l.a.slots {
            put(image, s.bit, l.a.bits, probe.a[at(s, i.m, i.k) + stored[s.row as usize][s.col as usize]]);
        }
        for s in &l.b.slots {
            put(image, s.bit, l.b.bits, probe.b[at(s, i.k, i.n) + s.col as usize]);
        }
        for s in &l.c.slots {
            put(image, s.bit, l.c.bits, probe.c[at(s, i.m, i.n) + s.col as usize]);
        }
        let scales = [(&l.scale_a, &probe.scale_a, i.scale_words()), (&l.scale_b, &probe.scale_b, i.n)];
        for (matrix, words, cols) in scales {
            for s in matrix.iter().flat_map(|m| &m.slots) {
                put(image, s.bit, 8, words[s.row as usize * cols + s.col as usize]);
            }
        }
        if let Some(matrix) = &l.sparse {
            for s in &matrix.slots {
                let selector = probe.sparse[s.row as usize][s.col as usize / 8] >> (4 * (s.col % 8)) & 15;
                put(image, s.bit, matrix.bits, u64::from(selector));
            }
        }
    }

    /// The first output element that is not the probe's: (block, row, column), expected, got.
    pub fn check_matrix(
        &self,
        i: &Instruction,
        probe: &MatrixProbe,
        image: &[u8],
    ) -> Option<((u16, u16, u16), u64, u64)> {
        let d = &self.layout.d;
        d.slots.iter().find_map(|s| {
            let expected = probe.d[(s.block as usize * i.m + s.row as usize) * i.n + s.col as usize];
            let got = get(image, s.bit, d.bits);
            (expected != got).then_some(((s.block, s.row, s.col), expected, got))
        })
    }

    /// The word that all output elements agree on, or what they said.
    pub fn answer(&self, image: &[u8]) -> Answer {
        let d = &self.layout.d;
        let first = get(image, d.slots[0].bit, d.bits);
        if d.slots.iter().all(|s| get(image, s.bit, d.bits) == first) {
            return Answer::Word(first);
        }
        let mut words: Vec<(u64, usize, (u16, u16, u16))> = Vec::new();
        for s in &d.slots {
            let word = get(image, s.bit, d.bits);
            match words.iter_mut().find(|(w, ..)| *w == word) {
                Some(entry) => entry.1 += 1,
                None => words.push((word, 1, (s.block, s.row, s.col))),
            }
        }
        words.sort_by_key(|entry| std::cmp::Reverse(entry.1));
        Answer::Disagree(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_survive_any_alignment() {
        for bits in [4u32, 6, 8, 16, 32, 64] {
            for bit in 0..40 {
                if bits >= 8 && bit % 8 != 0 {
                    continue;
                }
                let mut image = vec![0u8; 16];
                let word = 0x9e37_79b9_7f4a_7c15u64 >> (64 - bits);
                put(&mut image, bit, bits, word);
                assert_eq!(get(&image, bit, bits), word, "{bits} at {bit}");
            }
        }
    }

    #[test]
    fn disagreement_is_seen() {
        let i = Instruction::parse("mma.sync.m16n8k16.f32.f16.f16.f32").unwrap();
        let packer = Packer::new(&i);
        let mut image = vec![0u8; packer.layout.output_bytes];
        assert_eq!(packer.answer(&image), Answer::Word(0));
        image[4] = 1;
        match packer.answer(&image) {
            Answer::Disagree(words) => {
                assert_eq!(words.len(), 2);
                assert_eq!((words[0].0, words[0].1, words[1].0, words[1].1), (0, 127, 1, 1));
            }
            other => panic!("{other:?}"),
        }
    }
}
