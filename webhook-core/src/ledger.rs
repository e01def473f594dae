//! The durable record of which events were seen and what became of them, as a trait.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::claim::{Claim, NewEvent};
use crate::clock::Clock;
use crate::inbox_id::InboxId;
use crate::rules::Quarantine;

mod attempt;
mod check;
mod fault;
mod lease;
mod operator;
mod registration;
mod retention;

pub use attempt::{
    Committed, Completion, Failure, Inline, Next, RolledBack, TRANSACTION_ESCAPED, TxLimits,
};
pub use check::{Check, CheckVerdict};
pub use fault::{LedgerError, LedgerFault};
pub use lease::{EventTypes, FencingToken, LONGEST_LEASE, Lease, Leased, StoredEvent, Take, Taken};
pub use operator::{Found, QuarantineId, Quarantined, Release, Replay, Replayable, Search};
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
    /// A store that is unreachable, unsafe, or newer than this library can read, or whose clock is
    /// more than 30 seconds from the registration's; a key whose tombstones were pruned.
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
    /// dead instead. One that ran out for an event with `suspect_from` of them or more is taken by itself, and only
    /// while no other such event is leased.
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

    /// Forget what one endpoint need not remember any more, at most `what.batch` rows of each kind.
    /// Call it again until [`Pruned::is_nothing`].
    ///
    /// Enters `what.live_keys` into the registry as live now. Then drops payloads past their age, and
    /// of completed events, and of no others, identities: an event and the keys that lead to it go
    /// together, in one step, so that a claim meets all of it or nothing. Ages are counted on the
    /// store's clock from when an event was settled; an identity's from when it was last seen, if that
    /// was later.
    ///
    /// Safe on several replicas at once: each leaves alone what another is about to forget.
    ///
    /// # Errors
    ///
    /// The store's. What was forgotten until then stays forgotten.
    fn prune(&self, what: Retention) -> impl Future<Output = Result<Pruned, LedgerError>> + Send;

    /// Deliveries in quarantine that nobody has decided on, oldest first; of one endpoint, or of all.
    ///
    /// `after` is the last of the page before.
    ///
    /// # Errors
    ///
    /// The store's.
    fn quarantined(
        &self,
        endpoint: Option<Arc<str>>,
        after: Option<QuarantineId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Quarantined>, LedgerError>> + Send;

    /// Let a quarantined delivery run as an event of its own, once: of any number of operators one
    /// gets [`Release::Released`]. `actor` is recorded.
    ///
    /// Its claim key is made of the quarantine's id, so that it stands in no delivery's way. Where the
    /// payload was not kept because it is that of the event it collides with, it is taken from there.
    ///
    /// # Errors
    ///
    /// The store's.
    fn release(
        &self,
        id: QuarantineId,
        actor: String,
    ) -> impl Future<Output = Result<Release, LedgerError>> + Send;

    /// Decide that a quarantined delivery never runs. `false` if it was decided on before, or is
    /// unknown. `actor` is recorded.
    ///
    /// # Errors
    ///
    /// The store's.
    fn discard(
        &self,
        id: QuarantineId,
        actor: String,
    ) -> impl Future<Output = Result<bool, LedgerError>> + Send;

    /// Look for stored events, oldest first.
    ///
    /// # Errors
    ///
    /// The store's. A search for what is rare among very many may take longer than it allows: name a
    /// state.
    fn find(&self, what: Search) -> impl Future<Output = Result<Vec<Found>, LedgerError>> + Send;

    /// Let a dead or ignored event run again, now and with all of its attempts; a completed one only
    /// if `which` says so, and its effect then happens twice. `actor` is recorded.
    ///
    /// # Errors
    ///
    /// The store's.
    fn replay(
        &self,
        inbox: InboxId,
        actor: String,
        which: Replayable,
    ) -> impl Future<Output = Result<Replay, LedgerError>> + Send;

    /// Let ignored events of these types run, for which there is a handler now. How many wait for
    /// their turn; those whose payload is gone stay. `actor` is recorded.
    ///
    /// # Errors
    ///
    /// The store's. Events that wait by then go on waiting, and the call may be made again.
    fn replay_ignored(
        &self,
        endpoint: Arc<str>,
        event_types: Arc<[String]>,
        actor: String,
    ) -> impl Future<Output = Result<u64, LedgerError>> + Send;

    /// How the store stands: whether it is as durable as promised, its schema, how far its clock is
    /// from `clock`, events that wait for an endpoint that nobody serves. Changes nothing.
    ///
    /// What is [`CheckVerdict::Bad`] here is what
    /// [`Ledger::prepare`] refuses. A store that cannot be asked is a finding too.
    fn check(&self, clock: Arc<dyn Clock>) -> impl Future<Output = Vec<Check>> + Send;

    /// Wait for word that events of an endpoint, which is named, were stored by another process.
    ///
    /// A hint: words may be lost or repeated, and engines poll behind it. Stores that have no such
    /// word never resolve.
    fn arrival(&self) -> impl Future<Output = Arc<str>> + Send {
        std::future::pending()
    }

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
    ///
    /// Also for a handler that was cut off in the middle of a statement. Says whether there was still
    /// everything to undo: a handler that committed by itself must not run again.
    fn rollback(self) -> impl Future<Output = RolledBack> + Send;
}
