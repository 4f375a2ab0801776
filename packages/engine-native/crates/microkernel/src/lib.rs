//! SIMD micro-kernels for the arithmetic of GPU matrix units, bit for bit within stated ranges.
//!
//! A [`Kernel`] is chosen by [`select`] for one op ([`Params`]) and one instruction set ([`Isa`]). It packs B once
//! into panels ([`Kernel::pack_b`]), then computes tiles of D ([`Kernel::tile`]); A is packed per row block inside
//! the tile. M and N are blocked freely, K runs in order by the instruction's block: its order is semantics.
//!
//! A kernel vouches only for its proven range. Elements outside (non-finite operands, overflow, addends beyond the
//! range) are flagged in the [`Report`], their d is not written, and the caller computes them on its generic path.
//! Ops or shapes that no kernel here covers give `None` or [`Unsupported`]; nothing is computed then.

#![allow(clippy::needless_range_loop, reason = "an index names a lane, a row or a column of several arrays")]

mod detect;
mod dispatch;
mod gemm;
mod lanes;
mod microkernel;
mod pack;
mod params;
mod report;
#[cfg(test)]
mod tests;
mod words;

pub use detect::Isa;
pub use dispatch::select;
pub use gemm::{Job, Kernel, Shape, Unsupported};
pub use params::{Family, Format, Output, Params};
pub use report::{Counts, Report};
pub use words::{Out, View, Words};

/// Columns of one packed panel of B.
pub const PANEL: usize = 64;
