//! The durable record of which events were seen and what became of them, as a trait.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::claim::{Claim, NewEvent};
use crate::rules::Quarantine;

mod attempt;
mod check;
mod fault;
mod lease;
mod operator;
mod registration;
mod retention;

pub use attempt::{Committed, Completion, Failure, Inline, Next, TxLimits};
pub use check::{Check, CheckVerdict};
pub use fault::{LedgerError, LedgerFault};
pub use lease::{FencingToken, Lease, Leased, StoredEvent, Take, Taken};
pub use operator::{Found, QuarantineId, Quarantined, Release, Replay, Search};
pub use registration::{Notice, RegisteredEndpoint, Registration};
pub use retention::{IdentityRetention, Pruned, Retention};

/// A durable store of claims, events and quarantine.
///
/// Every operation is complete or has not happened, whether or not its caller still waits: no
/// statement is ever abandoned half-way. All leases, schedules and ages are reckoned on the store's
/// clock; callers pass durations.
pub trait Ledger: Clone + fmt::Debug + Send + Sync + 'static {
    /// What a handler is lent, for example `PgConnection`.
    type Conn: Send + 'static;
    /// A transaction that one handler's effect and its event's completion share.
    type Tx: LedgerTx<Conn = Self::Conn>;

    /// Migrate the schema, check that the store is as durable as promised, enter the keys into the
    /// registry. Safe when several replicas start at once.
    ///
    /// # Errors
    ///
    /// A store that is unreachable, unsafe, or newer than this library can read; a key whose
    /// tombstones were pruned.
    fn prepare(
        &self,
        registration: Registration,
    ) -> impl Future<Output = Result<Vec<Notice>, LedgerError>> + Send;

    /// Claim the events of one delivery and store those that were won, all in one durable step.
    ///
    /// Atomic across processes: of any number of concurrent claims of one event, one is
    /// [`Claim::Stored`].
    ///
    /// # Errors
    ///
    /// The store's. The outcome is then unknown, and the same claim may be made again.
    fn claim(
        &self,
        events: Vec<NewEvent>,
    ) -> impl Future<Output = Result<Vec<Claim>, LedgerError>> + Send;

    /// Keep an event in quarantine without spending its claim keys.
    ///
    /// # Errors
    ///
    /// The store's.
    fn quarantine(
        &self,
        event: NewEvent,
        reason: Quarantine,
    ) -> impl Future<Output = Result<(), LedgerError>> + Send;

    /// Claim `event` in a new transaction that its handler will share.
    ///
    /// # Errors
    ///
    /// The store's, contention with another holder beyond `limits` among them.
    fn begin_inline(
        &self,
        event: NewEvent,
        limits: TxLimits,
    ) -> impl Future<Output = Result<Inline<Self::Tx>, LedgerError>> + Send;

    /// Open a transaction for the holder of `lease`; `None` if the lease is lost.
    ///
    /// # Errors
    ///
    /// The store's.
    fn begin(
        &self,
        lease: Lease,
        limits: TxLimits,
    ) -> impl Future<Output = Result<Option<Self::Tx>, LedgerError>> + Send;

    /// Lease due events, and those whose lease has run out.
    ///
    /// A lease that ran out counts as a crash; an event with more than `max_crashes` of them becomes
    /// dead instead.
    ///
    /// # Errors
    ///
    /// The store's.
    fn take(&self, want: Take) -> impl Future<Output = Result<Taken, LedgerError>> + Send;

    /// Renew leases. Those still held are returned; the others are lost.
    ///
    /// # Errors
    ///
    /// The store's.
    fn renew(
        &self,
        leases: Vec<Lease>,
        length: Duration,
    ) -> impl Future<Output = Result<Vec<Lease>, LedgerError>> + Send;

    /// Complete an event whose handler took no transaction. `false` if the lease is lost.
    ///
    /// # Errors
    ///
    /// The store's.
    fn complete(
        &self,
        lease: Lease,
        done: Completion,
    ) -> impl Future<Output = Result<bool, LedgerError>> + Send;

    /// Record a failed attempt. `false` if the lease is lost.
    ///
    /// # Errors
    ///
    /// The store's.
    fn fail(
        &self,
        lease: Lease,
        failure: Failure,
    ) -> impl Future<Output = Result<bool, LedgerError>> + Send;

    /// Give leases back unused: due at once, nothing counted.
    ///
    /// # Errors
    ///
    /// The store's.
    fn hand_back(&self, leases: Vec<Lease>)
    -> impl Future<Output = Result<(), LedgerError>> + Send;

    /// How many handler transactions can be open at once. Engines wait for a free one, without a
    /// connection, rather than fail.
    fn max_transactions(&self) -> usize {
        8
    }

    /// Whether an error that a handler returned came of contention in this store, or of its absence.
    /// Such an attempt is not counted against the event.
    fn is_to_blame(&self, _error: &(dyn Error + 'static)) -> bool {
        false
    }

    /// Let running statements end and close every connection.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// An open transaction of one attempt.
///
/// Dropped unfinished, its connection is closed, never pooled: nobody inherits what user code left.
pub trait LedgerTx: Send + 'static {
    /// What the handler is lent.
    type Conn: Send;

    /// The handler's connection.
    fn conn(&mut self) -> &mut Self::Conn;

    /// Complete the event and commit, guarded: exactly one row, under the lease's token, in the very
    /// transaction that was opened. An unknown commit is resolved by reading the row again.
    ///
    /// # Errors
    ///
    /// The store's. Nothing was committed, or it is not known and the lease will run out.
    fn complete(
        self,
        done: Completion,
    ) -> impl Future<Output = Result<Committed, LedgerError>> + Send;

    /// Undo everything and release every lock before returning.
    fn rollback(self) -> impl Future<Output = ()> + Send;
}
