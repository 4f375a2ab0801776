//! Kernel sources: PTX text for CUDA, HIP C++ for AMD. One kernel an instruction, entry point `bitmma`, parameters
//! (input, output, count): block i of the grid runs case i.

pub mod mfma;
pub mod mma_sync;
pub mod ptx;
pub mod tcgen05;
pub mod wgmma;

use crate::instruction::{Family, Instruction};
use crate::layout::Layout;

pub const ENTRY: &str = "bitmma";

/// A device's instruction set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arch {
    /// Compute capability, 10 * major + minor.
    Sm(u32),
    /// `gfx942`, without feature suffixes.
    Gfx(String),
}

impl std::fmt::Display for Arch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Arch::Sm(sm) => write!(f, "sm_{sm}"),
            Arch::Gfx(name) => f.write_str(name),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Kernel {
    pub source: String,
    /// `.target` of the PTX, or the gfx name.
    pub target: String,
    pub threads: u32,
}

/// The instruction's kernel for a device, or why there is none.
pub fn kernel(i: &Instruction, layout: &Layout, arch: &Arch) -> Result<Kernel, String> {
    match (i.family, arch) {
        (Family::Mfma, Arch::Gfx(gfx)) => mfma::kernel(i, layout, gfx),
        (Family::Mfma, Arch::Sm(_)) => Err("an MFMA needs an AMD device".into()),
        (_, Arch::Gfx(_)) => Err("this instruction needs an NVIDIA device".into()),
        (_, Arch::Sm(sm)) => {
            let target = ptx::target(i, *sm)?;
            Ok(match i.family {
                Family::MmaSync => mma_sync::kernel(i, layout, &target),
                Family::Wgmma => wgmma::kernel(i, layout, &target),
                _ => tcgen05::kernel(i, layout, &target),
            })
        }
    }
}

/// Architectures that tests and `list` walk through.
pub fn known_archs() -> Vec<Arch> {
    let mut out: Vec<Arch> = [70, 75, 80, 86, 89, 90, 100, 103, 120, 121].into_iter().map(Arch::Sm).collect();
    out.extend(["gfx908", "gfx90a", "gfx942"].map(|g| Arch::Gfx(g.into())));
    out
}
