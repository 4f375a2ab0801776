//! AVX-512 micro-kernels.

pub(crate) mod window_f32;
