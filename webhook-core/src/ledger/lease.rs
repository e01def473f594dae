//! Leases, and the events they are held on.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::headers::KeptHeaders;
use crate::identity::{Account, EventId, EventType};
use crate::inbox_id::InboxId;

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
    /// Attempts that the store's contention or absence ended. Not counted against the event, but
    /// whoever retries at once should slow down by them.
    pub contended: u32,
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
