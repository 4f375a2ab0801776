//! NEON micro-kernels.

pub(crate) mod plain;
