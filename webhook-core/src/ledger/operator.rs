//! What an operator does: look into quarantine and among dead letters, release, discard, replay.

use std::fmt;
use std::sync::Arc;

use crate::digest::ContentDigest;
use crate::hex;
use crate::inbox_id::InboxId;
use crate::rules::{Quarantine, State};

/// A row of the quarantine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuarantineId([u8; 16]);

/// A quarantined delivery, as an operator sees it. The payload is fetched by releasing it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Quarantined {
    /// Its row.
    pub id: QuarantineId,
    /// The endpoint's name.
    pub endpoint: String,
    /// Why.
    pub reason: Quarantine,
    /// The event id it came under first.
    pub event_id: String,
    /// The type it came under first.
    pub event_type: String,
    /// The account.
    pub account: Option<String>,
    /// Digest of its content.
    pub digest: ContentDigest,
    /// The stored event it collided with.
    pub first: Option<InboxId>,
    /// Digest of that one's content.
    pub first_digest: Option<ContentDigest>,
    /// How often it came.
    pub seen: u64,
    /// When it came first, in Unix seconds of the store's clock.
    pub first_seen_at: i64,
    /// When it came last.
    pub last_seen_at: i64,
}

/// What became of an order to release a quarantined delivery.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Release {
    /// It waits for its turn as an event of its own.
    Released(InboxId),
    /// There is no such row, or it was released or discarded before.
    Settled,
    /// Its payload is gone.
    NoPayload,
}

/// Which stored events an operator wants to see.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Search {
    /// Only of this endpoint.
    pub endpoint: Option<Arc<str>>,
    /// Only in this state.
    pub state: Option<State>,
    /// Only of this type.
    pub event_type: Option<String>,
    /// Only this event id.
    pub event_id: Option<String>,
    /// Only rows after this one, for paging.
    pub after: Option<InboxId>,
    /// At most this many. Default: 100.
    pub limit: u32,
}

/// A stored event, as an operator sees it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found {
    /// Its row.
    pub inbox: InboxId,
    /// The endpoint's name.
    pub endpoint: String,
    /// The event id.
    pub event_id: String,
    /// The type.
    pub event_type: String,
    /// The account.
    pub account: Option<String>,
    /// Where it stands.
    pub state: State,
    /// Attempts that the handler failed.
    pub failures: u32,
    /// Attempts whose lease ran out.
    pub crashes: u32,
    /// Class and public words of the last error.
    pub last_error: Option<String>,
    /// When it was stored, in Unix seconds of the store's clock.
    pub received_at: i64,
}

/// Which events an order to run one again may concern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "completed ones or not")]
pub enum Replayable {
    /// Completed ones too: their effect then happens twice.
    EvenCompleted,
    /// Dead and ignored ones.
    Unfinished,
}

/// What became of an order to run an event again.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replay {
    /// It waits for its turn.
    Waiting,
    /// It is completed, and that was not asked for; or it waits or runs already.
    Refused(State),
    /// There is no such row.
    Unknown,
    /// Its payload is gone.
    NoPayload,
}

/// Everything, a hundred at a time.
impl Default for Search {
    fn default() -> Self {
        Self {
            endpoint: None,
            state: None,
            event_type: None,
            event_id: None,
            after: None,
            limit: 100,
        }
    }
}

impl Search {
    /// Only of this endpoint.
    #[must_use]
    pub fn endpoint(mut self, name: impl Into<Arc<str>>) -> Self {
        self.endpoint = Some(name.into());
        self
    }

    /// Only in this state.
    #[must_use]
    pub fn state(mut self, state: State) -> Self {
        self.state = Some(state);
        self
    }

    /// Only of this type.
    #[must_use]
    pub fn event_type(mut self, event_type: impl Into<String>) -> Self {
        self.event_type = Some(event_type.into());
        self
    }

    /// Only this event id.
    #[must_use]
    pub fn event_id(mut self, id: impl Into<String>) -> Self {
        self.event_id = Some(id.into());
        self
    }

    /// Only rows after this one, for paging.
    #[must_use]
    pub fn after(mut self, last: InboxId) -> Self {
        self.after = Some(last);
        self
    }

    /// At most this many.
    #[must_use]
    pub fn limit(mut self, rows: u32) -> Self {
        self.limit = rows;
        self
    }
}

impl Found {
    /// For ledgers: an event with all that every event has. The rest is set by its fields.
    pub fn new(
        inbox: InboxId,
        endpoint: impl Into<String>,
        event_id: impl Into<String>,
        event_type: impl Into<String>,
        state: State,
    ) -> Self {
        Self {
            inbox,
            endpoint: endpoint.into(),
            event_id: event_id.into(),
            event_type: event_type.into(),
            account: None,
            state,
            failures: 0,
            crashes: 0,
            last_error: None,
            received_at: 0,
        }
    }
}

impl Quarantined {
    /// For ledgers: a delivery with all that every delivery has. The rest is set by its fields.
    pub fn new(
        id: QuarantineId,
        reason: Quarantine,
        endpoint: impl Into<String>,
        event_id: impl Into<String>,
        event_type: impl Into<String>,
        digest: ContentDigest,
    ) -> Self {
        Self {
            id,
            endpoint: endpoint.into(),
            reason,
            event_id: event_id.into(),
            event_type: event_type.into(),
            account: None,
            digest,
            first: None,
            first_digest: None,
            seen: 1,
            first_seen_at: 0,
            last_seen_at: 0,
        }
    }
}

impl QuarantineId {
    /// From its stored bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for QuarantineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QuarantineId({})", hex::encode(&self.0))
    }
}

impl fmt::Display for QuarantineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}
