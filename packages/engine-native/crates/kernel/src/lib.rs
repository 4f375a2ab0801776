//! What a GPU's matrix unit computes, in integers. An op arrives as JSON, operands as words, results leave as words.

mod addend;
pub mod cells;
pub mod datapath;
pub mod events;
pub mod format;
pub mod fp32;
pub mod gemm;
mod host;
mod ieee;
mod micro;
mod mutants;
pub mod operand;
pub mod panels;
pub mod program;
mod round;
pub mod session;
pub mod spec;
mod special;
pub mod sum;
pub mod terms;
pub mod unit;

#[cfg(test)]
mod tests;
