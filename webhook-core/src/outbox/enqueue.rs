//! What becomes of an event that is enqueued.

use std::fmt;

use super::event::EventId;
use crate::ledger::LedgerError;

/// An event that will be sent if the transaction commits.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enqueued {
    /// It was enqueued before, under the same idempotency key: this is its id.
    Before(EventId),
    /// It is new.
    New(EventId),
}

/// Why an event was not enqueued.
#[non_exhaustive]
#[derive(Debug)]
pub enum EnqueueError {
    /// Its idempotency key was used for another type or payload.
    Conflict,
    /// The store failed. On PostgreSQL the transaction can then only be rolled back.
    Store(LedgerError),
}

impl Enqueued {
    /// The event's id.
    pub fn id(&self) -> &EventId {
        match self {
            Self::Before(id) | Self::New(id) => id,
        }
    }

    /// Whether it was enqueued before.
    pub fn is_repeat(&self) -> bool {
        matches!(self, Self::Before(_))
    }
}

impl fmt::Display for EnqueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conflict => "the idempotency key was used for another event",
            Self::Store(_) => "the event could not be stored",
        })
    }
}

impl std::error::Error for EnqueueError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Conflict => None,
            Self::Store(error) => Some(error),
        }
    }
}

impl From<LedgerError> for EnqueueError {
    fn from(error: LedgerError) -> Self {
        Self::Store(error)
    }
}
