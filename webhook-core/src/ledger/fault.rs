//! How a store fails.

use std::error::Error;
use std::fmt;

/// A failure of the store. Says nothing of keys, payloads or queries.
///
/// Printed with `{:#}`, it names its cause as well: a line for whoever operates the store.
#[derive(Debug)]
pub struct LedgerError {
    kind: LedgerFault,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What kind of failure it is.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerFault {
    /// Another transaction was in the way. Trying again helps.
    Contention,
    /// The store refused what it should have taken.
    Internal,
    /// The store must not be used as it is; says what to change.
    Unfit(String),
    /// The store cannot be reached, the connection broke, or it takes no writes: read-only, or full.
    Unavailable,
}

impl LedgerError {
    /// A failure of this kind, caused by `source`.
    pub fn new(kind: LedgerFault, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind,
            source: Some(source.into()),
        }
    }

    /// A store that must not be used: `advice` names the setting and what it must be.
    pub fn unfit(advice: impl Into<String>) -> Self {
        Self {
            kind: LedgerFault::Unfit(advice.into()),
            source: None,
        }
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> &LedgerFault {
        &self.kind
    }

    /// Whether trying again at once may help.
    pub fn is_contention(&self) -> bool {
        self.kind == LedgerFault::Contention
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            LedgerFault::Contention => f.write_str("the ledger is contended"),
            LedgerFault::Internal => f.write_str("the ledger failed"),
            LedgerFault::Unfit(advice) => write!(f, "the ledger's store is unfit: {advice}"),
            LedgerFault::Unavailable => f.write_str("the ledger is unavailable"),
        }?;
        match &self.source {
            Some(cause) if f.alternate() => write!(f, ": {cause}"),
            _ => Ok(()),
        }
    }
}

impl Error for LedgerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
