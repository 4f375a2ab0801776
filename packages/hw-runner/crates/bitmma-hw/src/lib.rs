//! Runs bitmma vector files on a GPU's matrix unit: one instruction a case, words in, words out.

pub mod case;
pub mod catalog;
pub mod commands;
pub mod driver;
pub mod error;
pub mod format;
pub mod forms;
pub mod image;
pub mod instruction;
pub mod kernel;
pub mod layout;
pub mod probe;
pub mod session;
pub mod vectors;
