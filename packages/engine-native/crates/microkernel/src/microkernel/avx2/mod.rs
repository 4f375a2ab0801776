//! AVX2 micro-kernels.

pub(crate) mod plain;
