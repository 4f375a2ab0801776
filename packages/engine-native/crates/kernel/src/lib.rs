//! What a GPU's matrix unit computes, in integers. An op arrives as JSON, operands as words, results leave as words.

pub mod format;
pub mod spec;
