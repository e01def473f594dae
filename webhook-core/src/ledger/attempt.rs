//! How an attempt may end, and what is recorded of it.

use std::time::Duration;

use crate::claim::Claim;
use crate::digest::ContentDigest;
use crate::ledger::lease::Leased;
use crate::reply::Reply;

/// Bounds of one handler's transaction, enforced by the store.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TxLimits {
    /// Longest statement, and longest pause between two.
    pub statement: Duration,
    /// Longest wait for a lock. Default: half of the longest statement.
    pub lock: Duration,
    /// Lease given to an event that is claimed inline.
    pub lease: Duration,
}

/// The outcome of an inline claim.
#[derive(Debug)]
#[non_exhaustive]
pub enum Inline<T> {
    /// Won: the handler may run in this transaction.
    Granted(T, Box<Leased>),
    /// Not won.
    Settled(Claim),
}

/// The outcome of a guarded commit.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// The transaction was broken by an error that the handler swallowed: a failed attempt.
    Aborted,
    /// Effect and completion are durable, together.
    Committed,
    /// The handler ended or replaced the transaction itself: its effect may stand without completion.
    /// Never retried by itself.
    Escaped,
    /// Another worker holds the event: nothing was committed.
    LeaseLost,
}

/// The outcome of a rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "all of it or not all of it")]
pub enum RolledBack {
    /// The handler had ended or replaced the transaction itself: its effect may stand.
    Escaped,
    /// Nothing of it is left.
    Undone,
}

/// What is recorded with a completion.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Completion {
    /// The handler's reply, kept for duplicates of an inline delivery.
    pub reply: Reply,
    /// Digest of the payload's canonical form, kept for later comparisons.
    pub canonical: Option<ContentDigest>,
}

/// What is recorded with a failed attempt.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Failure {
    /// Class and public words of the error, at most 500 bytes.
    pub error: String,
    /// Whether the attempt counts against the event. Contention and a store that was away do not.
    /// Default: it does.
    pub counted: bool,
    /// What happens next.
    pub next: Next,
}

/// The [`Failure::error`] of an event whose handler ended the transaction itself. Ledgers tell by it that a
/// dead event's effect may stand ([`crate::HeldEvent::has_escaped`]).
pub const TRANSACTION_ESCAPED: &str = "transaction_escaped";

/// What happens to an event after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it runs again or it does not")]
pub enum Next {
    /// It becomes a dead letter; a redelivery can revive it after `quiet`.
    Dead {
        /// Shortest time to the next attempt of a revived event.
        quiet: Duration,
    },
    /// It runs again after this long.
    Retry(Duration),
}

impl TxLimits {
    /// Statements of at most this length, under a lease of that.
    pub fn new(statement: Duration, lease: Duration) -> Self {
        Self {
            statement,
            lock: statement.div_f64(2.0),
            lease,
        }
    }

    /// Longest wait for a lock.
    #[must_use]
    pub fn lock(mut self, longest: Duration) -> Self {
        self.lock = longest;
        self
    }
}

impl Failure {
    /// An attempt that counts against the event.
    pub fn new(error: impl Into<String>, next: Next) -> Self {
        Self {
            error: error.into(),
            counted: true,
            next,
        }
    }

    /// The event is not to blame.
    #[must_use]
    pub fn uncounted(mut self) -> Self {
        self.counted = false;
        self
    }
}

impl Completion {
    /// A completion with its reply and its canonical digest.
    pub fn new(reply: Reply, canonical: Option<ContentDigest>) -> Self {
        Self { reply, canonical }
    }
}
