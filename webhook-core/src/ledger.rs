//! The durable record of which events were seen and what became of them, as a trait.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::claim::{Claim, NewEvent};
use crate::digest::ContentDigest;

use crate::headers::KeptHeaders;
use crate::identity::{Account, EventId, EventType};
use crate::inbox_id::InboxId;
use crate::keyring::KeyFingerprint;
use crate::reply::Reply;
use crate::rules::Quarantine;

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

/// The endpoints and keys a process is about to serve.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Registration {
    /// One entry an endpoint.
    pub endpoints: Vec<RegisteredEndpoint>,
}

/// An endpoint as the ledger knows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegisteredEndpoint {
    /// Its stable name.
    pub name: Arc<str>,
    /// Its keys.
    pub keys: Vec<KeyFingerprint>,
    /// Whether its keys may stand at other endpoints too.
    pub secret_is_shared: bool,
}

/// Something an operator should know at start.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Notice {
    /// Events wait for an endpoint that this process does not serve.
    #[error("{waiting} events wait for endpoint `{endpoint}`, which is not served here")]
    Orphans {
        /// The endpoint's name.
        endpoint: String,
        /// How many.
        waiting: u64,
    },
    /// A key of this endpoint was registered for another one.
    #[error("a key of endpoint `{endpoint}` is also registered for `{other}`")]
    SharedKey {
        /// Served here.
        endpoint: String,
        /// The other.
        other: String,
    },
}

/// Grows with each claim of any event and is never reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FencingToken(i64);

/// The exclusive right to process an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    inbox: InboxId,
    token: FencingToken,
}

/// A leased event.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "ledgers fill it from a row")]
pub struct Leased {
    /// The lease.
    pub lease: Lease,
    /// The event.
    pub event: StoredEvent,
    /// Attempts that the handler failed.
    pub failures: u32,
    /// Attempts whose lease ran out.
    pub crashes: u32,
}

/// An event as stored.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "ledgers fill it from a row")]
pub struct StoredEvent {
    /// The endpoint's name.
    pub endpoint: Arc<str>,
    /// The tenant.
    pub principal: Option<String>,
    /// The account.
    pub account: Option<Account>,
    /// The id.
    pub id: EventId,
    /// The type.
    pub event_type: EventType,
    /// The payload.
    pub payload: Bytes,
    /// Unsigned headers.
    pub headers: KeptHeaders,
    /// The verifying key's id.
    pub key_id: Option<String>,
    /// The signed timestamp.
    pub signed_at: Option<i64>,
    /// When it was stored, in Unix seconds of the store's clock.
    pub received_at: i64,
}

/// Which events a worker wants.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "an argument list with names")]
pub struct Take {
    /// Only of this endpoint.
    pub endpoint: Arc<str>,
    /// Only of these types: a worker never takes what it cannot run.
    pub event_types: Arc<[String]>,
    /// At most this many.
    pub max: u32,
    /// The lease's length.
    pub lease: Duration,
    /// Crashes after which an event is dead.
    pub max_crashes: u32,
}

/// What a worker got.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Taken {
    /// Leased events, oldest due first.
    pub events: Vec<Leased>,
    /// Events that had crashed too often and are dead now.
    pub buried: u64,
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
#[expect(clippy::exhaustive_structs, reason = "an argument list with names")]
pub struct Failure {
    /// Class and public words of the error, at most 500 bytes.
    pub error: String,
    /// Whether the attempt counts against the event. Contention and a store that was away do not.
    pub counted: bool,
    /// What happens next.
    pub next: Next,
}

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

/// Bounds of one handler's transaction, enforced by the store.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "an argument list with names")]
pub struct TxLimits {
    /// Longest statement, and longest pause between two.
    pub statement: Duration,
    /// Longest wait for a lock.
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

/// A failure of the store. Says nothing of keys, payloads or queries.
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
    /// The store cannot be reached, or the connection broke.
    Unavailable,
}

impl Registration {
    /// Of these endpoints.
    pub fn new(endpoints: Vec<RegisteredEndpoint>) -> Self {
        Self { endpoints }
    }
}

impl RegisteredEndpoint {
    /// An endpoint and its keys.
    pub fn new(name: Arc<str>, keys: Vec<KeyFingerprint>, secret_is_shared: bool) -> Self {
        Self {
            name,
            keys,
            secret_is_shared,
        }
    }
}

impl FencingToken {
    /// From its stored number.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl Lease {
    /// For ledgers: the lease of a row under a token.
    pub const fn new(inbox: InboxId, token: FencingToken) -> Self {
        Self { inbox, token }
    }

    /// The event's row.
    pub const fn inbox(&self) -> InboxId {
        self.inbox
    }

    /// The token every write must bear.
    pub const fn token(&self) -> FencingToken {
        self.token
    }
}

impl Taken {
    /// What a ledger leased and buried.
    pub fn new(events: Vec<Leased>, buried: u64) -> Self {
        Self { events, buried }
    }
}

impl Completion {
    /// A completion with its reply and its canonical digest.
    pub fn new(reply: Reply, canonical: Option<ContentDigest>) -> Self {
        Self { reply, canonical }
    }
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
        }
    }
}

impl Error for LedgerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl fmt::Debug for StoredEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredEvent")
            .field("endpoint", &self.endpoint)
            .field("id", &self.id)
            .field("event_type", &self.event_type)
            .field("payload_bytes", &self.payload.len())
            .finish_non_exhaustive()
    }
}
