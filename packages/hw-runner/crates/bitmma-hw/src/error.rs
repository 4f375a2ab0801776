//! What can go wrong, and the exit code that says so.

use std::fmt;

/// One clear sentence each; the variant fixes the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A file, option or word that does not fit. Exit code 2.
    Input(String),
    /// No driver, no device, or a device without the instruction. Exit code 3.
    Unavailable { reason: String, remedy: String },
    /// A driver call failed, a kernel faulted or gave no answer in time. Exit code 4.
    Device(String),
    /// A lane probe did not answer 1: the extraction is wrong, no case was counted. Exit code 5.
    Probe(String),
    /// A replicated output disagreed with itself in some case. Exit code 6.
    Position(String),
    /// Reading or writing failed. Exit code 1.
    Io(String),
}

impl Error {
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::Io(_) => 1,
            Error::Input(_) => 2,
            Error::Unavailable { .. } => 3,
            Error::Device(_) => 4,
            Error::Probe(_) => 5,
            Error::Position(_) => 6,
        }
    }

    pub fn unavailable(reason: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Unavailable { reason: reason.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(m) | Error::Device(m) | Error::Probe(m) | Error::Position(m) | Error::Io(m) => f.write_str(m),
            Error::Unavailable { reason, remedy } => write!(f, "{reason}; {remedy}"),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Error {
        Error::Io(e.to_string())
    }
}

pub type Result<T> = std::result::Result<T, Error>;
