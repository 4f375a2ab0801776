//! AVX2 micro-kernels.

pub(crate) mod cdna3_i32;
pub(crate) mod exact;
pub(crate) mod exact_path;
mod floor_chain;
mod floor_f32;
mod narrow;
pub(crate) mod pairwise;
pub(crate) mod plain;
pub(crate) mod wide;
mod wide_pack;
pub(crate) mod window_f32;
pub(crate) mod window_i32;
pub(crate) mod window_wide;
