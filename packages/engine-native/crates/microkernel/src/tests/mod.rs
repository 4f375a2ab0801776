//! Kernels against the model, and mutants that the model must catch.

mod avx2;
mod cdna;
pub mod data;
mod exact_path;
pub mod harness;
mod middles;
pub mod model;
pub mod model_cdna;
mod mutants;
mod plain;
mod windows;
