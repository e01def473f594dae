//! Why a command did not do what it was asked to, and the exit code that says so.

use std::process::ExitCode;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// It was done, and what was looked at is not good: the words were printed already.
    #[error("negative")]
    Negative,
    /// What was given cannot be used: an argument, a file, a secret.
    #[error("{0}")]
    Usage(String),
    /// Something outside did not answer: an endpoint, a store, a port.
    #[error("{0}")]
    Unreachable(String),
}

/// Printed under `--help`; the same table stands in `docs/cli.md`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done; what was judged is good
  1  done; what was judged is not: a request refused, an answer outside 2xx, a store that is not ready
  2  an argument, a file or a secret cannot be used
  3  an endpoint, a store or a port could not be reached";

impl Fault {
    pub(crate) fn usage(words: impl Into<String>) -> Self {
        Self::Usage(words.into())
    }

    pub(crate) fn unreachable(words: impl Into<String>) -> Self {
        Self::Unreachable(words.into())
    }

    /// The process's exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Negative => 1,
            Self::Usage(_) => 2,
            Self::Unreachable(_) => 3,
        }
    }
}

impl From<Fault> for ExitCode {
    fn from(fault: Fault) -> Self {
        Self::from(fault.code())
    }
}
