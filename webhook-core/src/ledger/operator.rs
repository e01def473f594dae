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
#[expect(clippy::exhaustive_structs, reason = "ledgers fill it from a row")]
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
#[expect(clippy::exhaustive_structs, reason = "an argument list with names")]
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
    /// At most this many.
    pub limit: u32,
}

/// A stored event, as an operator sees it.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "ledgers fill it from a row")]
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

/// What became of an order to run an event again.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replay {
    /// It waits for its turn.
    Waiting,
    /// It is completed, and `again` was not said; or it waits or runs already.
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
