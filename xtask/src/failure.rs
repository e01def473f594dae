//! Why a task ended early.

use std::fmt::Display;
use std::process::{ExitCode, ExitStatus};

/// Ends the task; `main` tells the reader and chooses the exit status.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A command failed, said why, and left this exit status.
    Command(u8),
    /// Something the reader has not been told yet.
    Message(String),
    /// The command line makes no sense.
    Usage(String),
}

impl Failure {
    /// For `map_err`: what was being done when `cause` came up.
    pub(crate) fn cannot<E: Display>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |cause| Self::Message(format!("cannot {what}: {cause}"))
    }

    /// # Errors
    ///
    /// Fails as the command did.
    pub(crate) fn check(status: ExitStatus) -> Result<(), Self> {
        if status.success() {
            return Ok(());
        }
        // No code: killed by a signal.
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Err(Self::Command(code.unwrap_or(1)))
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Command(code) => ExitCode::from(*code),
            Self::Message(_) => ExitCode::FAILURE,
            Self::Usage(_) => ExitCode::from(2),
        }
    }
}
