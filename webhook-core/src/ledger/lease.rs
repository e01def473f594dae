//! Leases, and the events they are held on.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::claim::ClaimKey;
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

/// Longest lease that an event is ever held under: one that ends later was given by a clock that has
/// been set back since.
pub const LONGEST_LEASE: Duration = Duration::from_hours(1);

/// A leased event.
#[derive(Debug, Clone)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct StoredEvent {
    /// The claim key that it goes by: of its id, or of its release from quarantine.
    pub key: ClaimKey,
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

/// Which types of events.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a list, or no list")]
pub enum EventTypes {
    /// Whatever there are: a handler takes those that no other names.
    All,
    /// These.
    Listed(Arc<[String]>),
}

/// Which events a worker wants.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Take {
    /// Only of this endpoint.
    pub endpoint: Arc<str>,
    /// Only of these types: a worker never takes what it cannot run.
    pub event_types: EventTypes,
    /// At most this many. Default: 1.
    pub max: u32,
    /// Of these, at most this many whose lease ran out. One of them may be what killed its worker, and
    /// whatever is taken with it counts another crash when it does so again. Default: `max`.
    pub max_abandoned: u32,
    /// The lease's length, at most [`LONGEST_LEASE`].
    pub lease: Duration,
    /// Crashes after which an event is dead. Default: 20.
    pub max_crashes: u32,
    /// Crashes from which on an event is a suspect: no two of them are leased at the same time, of whatever
    /// endpoints, or those that were taken beside the one that kills its workers would be buried with it.
    /// Default: 3.
    pub suspect_from: u32,
    /// Longest pause between two attempts of an event. One that would wait for longer was put off by
    /// a clock that has been set back since: it is due. Default: 1 hour.
    pub longest_pause: Duration,
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

impl EventTypes {
    /// The list, if there is one.
    pub fn listed(&self) -> Option<&[String]> {
        match self {
            Self::All => None,
            Self::Listed(types) => Some(types),
        }
    }
}

impl From<Arc<[String]>> for EventTypes {
    fn from(types: Arc<[String]>) -> Self {
        Self::Listed(types)
    }
}

impl From<Vec<String>> for EventTypes {
    fn from(types: Vec<String>) -> Self {
        Self::Listed(types.into())
    }
}

impl Leased {
    /// For ledgers: a lease on an event that was never tried before. The rest is set by its fields.
    pub fn new(lease: Lease, event: StoredEvent) -> Self {
        Self {
            lease,
            event,
            failures: 0,
            crashes: 0,
            contended: 0,
        }
    }
}

impl StoredEvent {
    /// For ledgers: an event with all that every event has. The rest is set by its fields.
    pub fn new(
        key: ClaimKey,
        endpoint: Arc<str>,
        id: EventId,
        event_type: EventType,
        payload: Bytes,
    ) -> Self {
        Self {
            key,
            endpoint,
            principal: None,
            account: None,
            id,
            event_type,
            payload,
            headers: KeptHeaders::default(),
            key_id: None,
            signed_at: None,
            received_at: 0,
        }
    }
}

impl Take {
    /// One event of `endpoint`, of one of these types, under a lease of this length.
    pub fn new(
        endpoint: impl Into<Arc<str>>,
        event_types: impl Into<EventTypes>,
        lease: Duration,
    ) -> Self {
        Self {
            endpoint: endpoint.into(),
            event_types: event_types.into(),
            max: 1,
            max_abandoned: 1,
            lease,
            max_crashes: 20,
            suspect_from: 3,
            longest_pause: Duration::from_hours(1),
        }
    }

    /// At most this many, abandoned or not.
    #[must_use]
    pub fn at_most(mut self, events: u32) -> Self {
        self.max = events;
        self.max_abandoned = events;
        self
    }

    /// Of these, at most this many whose lease ran out.
    #[must_use]
    pub fn max_abandoned(mut self, events: u32) -> Self {
        self.max_abandoned = events;
        self
    }

    /// Crashes after which an event is dead.
    #[must_use]
    pub fn max_crashes(mut self, crashes: u32) -> Self {
        self.max_crashes = crashes;
        self
    }

    /// Crashes from which on an event is taken only while no other such event is leased.
    #[must_use]
    pub fn suspect_from(mut self, crashes: u32) -> Self {
        self.suspect_from = crashes;
        self
    }

    /// Longest pause between two attempts of an event.
    #[must_use]
    pub fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
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
