//! Configuration faults. They stop the process at start, not at the first request.

use webhook_core::ledger::LedgerError;

/// Why `build()` refuses. Names the endpoint and the setting, never a secret.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

/// Why the engine did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// `start()` was called before.
    #[error("the engine was started before")]
    AlreadyStarted,
    /// The store is unreachable or unfit.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The operating system gives no thread.
    #[error("the engine's threads could not be started")]
    Threads(#[from] std::io::Error),
}

impl ConfigError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    pub(crate) fn endpoint(name: &str, what: impl AsRef<str>) -> Self {
        Self(format!("endpoint `{name}`: {}", what.as_ref()))
    }
}
