//! An instruction identifier, taken apart: family, shape, formats, scaling, sparsity.

mod parse;

use crate::error::{Error, Result};
use crate::format::Format;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    MmaSync,
    Wgmma,
    Tcgen05,
    Mfma,
}

/// The `.kind` of a tcgen05.mma, or of an sm_120 mma.sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Plain,
    Tf32,
    F16,
    F8f6f4,
    I8,
    Mxf8f6f4,
    Mxf4,
    Mxf4nvf4,
}

/// Selector rule of a sparse A: '1:2', '2:4', '4:8 in pairs'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sparsity {
    OneOfTwo,
    TwoOfFour,
    FourOfEightPairs,
}

impl Sparsity {
    /// Logical k positions that one 4-bit selector governs.
    pub const fn chunk(self) -> usize {
        match self {
            Sparsity::OneOfTwo => 2,
            Sparsity::TwoOfFour => 4,
            Sparsity::FourOfEightPairs => 8,
        }
    }

    pub const fn legal(self) -> &'static [u32] {
        match self {
            Sparsity::OneOfTwo => &[0x4, 0xe],
            _ => &[0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe],
        }
    }

    /// Logical positions, within the chunk, of the stored elements of `selector`, in storage order.
    pub fn active(self, selector: u32) -> Vec<usize> {
        let low = (selector & 3) as usize;
        let high = (selector >> 2 & 3) as usize;
        match self {
            // 0b0100: the lower, 0b1110: the upper (bit 1 of the first field).
            Sparsity::OneOfTwo => vec![low >> 1],
            Sparsity::TwoOfFour => vec![low, high],
            Sparsity::FourOfEightPairs => vec![2 * low, 2 * low + 1, 2 * high, 2 * high + 1],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scaling {
    pub format: Format,
    /// Logical k positions that share one scale word.
    pub block: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// As the vectors write it.
    pub name: String,
    pub family: Family,
    pub kind: Kind,
    pub m: usize,
    pub n: usize,
    /// Logical k positions of one instruction.
    pub k: usize,
    /// Independent products of one instruction (MFMA `_4b_`, and the four of Volta's m8n8k4).
    pub blocks: usize,
    pub a: Format,
    pub b: Format,
    pub c: Format,
    pub d: Format,
    pub scaling: Option<Scaling>,
    pub sparsity: Option<Sparsity>,
    pub satfinite: bool,
}

impl Instruction {
    /// Reads a canonical identifier; vendor qualifiers that change no arithmetic (`.aligned`, `.row`, `.col`,
    /// `.cta_group::1`) are ignored.
    pub fn parse(name: &str) -> Result<Instruction> {
        let parsed = if name.starts_with("mma.sync") {
            parse::mma_sync(name)
        } else if name.starts_with("wgmma") {
            parse::wgmma(name)
        } else if name.starts_with("tcgen05.mma") {
            parse::tcgen05(name)
        } else if name.starts_with("v_mfma_") {
            crate::layout::mfma::parse(name)
        } else {
            Err("expected mma.sync, wgmma.mma_async, tcgen05.mma or v_mfma".into())
        };
        parsed.map_err(|why| Error::Input(format!("instruction {name}: {why}")))
    }

    pub fn scale_words(&self) -> usize {
        self.scaling.map_or(0, |s| self.k.div_ceil(s.block))
    }

    pub fn sparse_words(&self) -> usize {
        self.sparsity.map_or(0, |s| (self.k / s.chunk()).div_ceil(8))
    }

    /// Stored k positions of A.
    pub fn stored_k(&self) -> usize {
        if self.sparsity.is_some() {
            self.k / 2
        } else {
            self.k
        }
    }

    pub fn is_cuda(&self) -> bool {
        self.family != Family::Mfma
    }
}

/// N of the tcgen05 kernels: the smallest that every kind takes with M = 128.
pub const TCGEN05_N: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_identifiers() {
        let i = Instruction::parse("mma.sync.m16n8k32.f32.e4m3.e5m2.f32").unwrap();
        assert_eq!((i.m, i.n, i.k, i.a, i.b), (16, 8, 32, Format::E4m3, Format::E5m2));
        let full = Instruction::parse("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32").unwrap();
        assert_eq!((full.k, full.c), (32, Format::Fp32));
        assert_eq!(Instruction::parse("mma.sync.m8n8k4.f32.f16.f16.f16").unwrap().blocks, 4);
        let s =
            Instruction::parse("tcgen05.mma.sp.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3").unwrap();
        assert_eq!((s.k, s.scaling.unwrap().block, s.scale_words(), s.sparse_words()), (128, 32, 4, 2));
        let s = Instruction::parse("tcgen05.mma.sp.kind::tf32.f32.tf32.tf32").unwrap();
        assert_eq!((s.k, s.sparse_words(), s.stored_k()), (16, 1, 8));
    }

    #[test]
    fn refuses_what_is_no_instruction() {
        for name in [
            "mma.sync.m16n8k16.f32.f16.bf16.f32",
            "mma.sync.m16n8k8.f32.e4m3.e4m3.f32",
            "mma.sync.m8n8k4.f16.f16.f16.f32",
            "wgmma.mma_async.m64n12k16.f32.f16.f16",
            "tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue4m3",
            "v_mfma_f32_16x16x5_f16",
            "fma.rn.f32",
        ] {
            assert!(matches!(Instruction::parse(name), Err(Error::Input(m)) if m.contains(name)), "{name}");
        }
    }

    #[test]
    fn selectors_name_positions() {
        assert_eq!(Sparsity::OneOfTwo.active(0x4), [0]);
        assert_eq!(Sparsity::OneOfTwo.active(0xe), [1]);
        assert_eq!(Sparsity::TwoOfFour.active(0x9), [1, 2]);
        assert_eq!(Sparsity::TwoOfFour.active(0x6), [2, 1]);
        assert_eq!(Sparsity::FourOfEightPairs.active(0xc), [0, 1, 6, 7]);
    }
}
