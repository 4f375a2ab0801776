//! One dot product of an instruction, as words.

use crate::error::{Error, Result};
use crate::instruction::Instruction;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Case {
    /// k words each, k the instruction's K or more (a chain).
    pub a: Vec<u64>,
    pub b: Vec<u64>,
    /// Absent: +0.
    pub c: Option<u64>,
    pub scale_a: Vec<u8>,
    pub scale_b: Vec<u8>,
    pub sparse: Vec<u32>,
}

impl Case {
    /// Checks counts, word ranges and selectors against the instruction.
    pub fn check(&self, i: &Instruction) -> Result<()> {
        let k = self.a.len();
        let fail = |field: &str, expected: String, got: String| {
            Err(Error::Input(format!("{field}: expected {expected}, got {got}")))
        };
        if k == 0 {
            return fail("a", format!("{} words", i.k), "0".into());
        }
        if self.b.len() != k {
            return fail("b", format!("{k} words as in a"), self.b.len().to_string());
        }
        if k > i.k && i.c != i.d {
            return fail(
                "a",
                format!("{} words (c and d differ in format, so {} does not chain)", i.k, i.name),
                k.to_string(),
            );
        }
        for (field, words, format) in [("a", &self.a, i.a), ("b", &self.b, i.b)] {
            if let Some(w) = words.iter().find(|w| format.bits() < 64 && **w >> format.bits() != 0) {
                return fail(field, format!("words of {} bits ({})", format.bits(), format.token()), format!("{w:x}"));
            }
        }
        if let Some(c) = self.c.filter(|c| i.c.bits() < 64 && c >> i.c.bits() != 0) {
            return fail("c", format!("a word of {} bits", i.c.bits()), format!("{c:x}"));
        }
        let steps = k.div_ceil(i.k);
        let scales = i.scaling.map_or(0, |s| k.div_ceil(s.block));
        for (field, words) in [("scaleA", &self.scale_a), ("scaleB", &self.scale_b)] {
            if words.len() != scales {
                return fail(field, format!("{scales} words"), words.len().to_string());
            }
        }
        let sparse = i.sparsity.map_or(0, |s| k.div_ceil(s.chunk()).div_ceil(8));
        if self.sparse.len() != sparse {
            return fail("sparse", format!("{sparse} words"), self.sparse.len().to_string());
        }
        if let Some(rule) = i.sparsity {
            if steps > 1 && !k.is_multiple_of(i.k) {
                return fail("a", format!("a multiple of {} words (sparse)", i.k), k.to_string());
            }
            for chunk in 0..k.div_ceil(rule.chunk()) {
                let selector = self.sparse[chunk / 8] >> (4 * (chunk % 8)) & 15;
                if !rule.legal().contains(&selector) {
                    return fail("sparse", format!("a legal selector in chunk {chunk}"), format!("{selector:x}"));
                }
            }
        }
        Ok(())
    }

    /// The instruction-sized part `step` of a chain, its end padded with +0; c is set by the caller.
    pub fn step(&self, i: &Instruction, step: usize) -> Case {
        let part = |words: &[u64]| {
            let mut out: Vec<u64> = words.iter().skip(step * i.k).take(i.k).copied().collect();
            out.resize(i.k, 0);
            out
        };
        let scales = i.scale_words();
        let scale = |words: &[u8]| {
            let mut out: Vec<u8> = words.iter().skip(step * scales).take(scales).copied().collect();
            if let Some(s) = i.scaling {
                out.resize(scales, s.format.one() as u8);
            }
            out
        };
        let metadata = i.sparse_words();
        Case {
            a: part(&self.a),
            b: part(&self.b),
            c: self.c,
            scale_a: scale(&self.scale_a),
            scale_b: scale(&self.scale_b),
            sparse: self.sparse.iter().skip(step * metadata).take(metadata).copied().collect(),
        }
    }

    pub fn steps(&self, i: &Instruction) -> usize {
        self.a.len().div_ceil(i.k)
    }
}
