//! What both stores read and write in the same way.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sqlx::types::Uuid;
use webhook_core::ledger::{FencingToken, Lease, Leased, StoredEvent};
use webhook_core::{
    Account, ContentDigest, EventId, EventType, HeldEvent, Holder, InboxId, KeptHeaders, NewEvent,
    Reply, State,
};

use crate::error::StoreFault;

/// A claim key that an event wants, as found: position of the event, key, row of the holder, is
/// tombstone, digest of the tombstone; and of the holder's event, if it is there, state, type,
/// digest, canonical digest, type of the reply, reply, is payload kept, payload if it must be
/// compared, is due for a new `last_seen_at`.
pub(crate) type KeyRow = (
    i64,
    Vec<u8>,
    Uuid,
    bool,
    Option<Vec<u8>>,
    Option<String>,
    Option<String>,
    Option<Vec<u8>>,
    Option<Vec<u8>>,
    Option<String>,
    Option<Vec<u8>>,
    bool,
    Option<Vec<u8>>,
    Option<bool>,
);

/// An event as leased: id, token, state, failures, crashes, principal, account, event id, type,
/// payload, headers, key id, signed at, received at.
pub(crate) type LeasedRow = (
    Uuid,
    i64,
    String,
    i64,
    i64,
    Option<String>,
    Option<String>,
    String,
    String,
    Option<Vec<u8>>,
    Option<String>,
    Option<String>,
    Option<i64>,
    i64,
);

/// Who holds the keys of one event.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    pub(crate) by_id: Option<Holder>,
    pub(crate) by_digest: Option<Holder>,
    /// Keys whose holder has no row, and never will: left by a claim that won half of its keys.
    pub(crate) orphans: Vec<(Vec<u8>, Uuid)>,
    /// Events that were last marked as seen more than a minute ago.
    pub(crate) unmarked: Vec<Uuid>,
}

impl Holders {
    /// Enter what was found for one key of `event`.
    pub(crate) fn add(&mut self, event: &NewEvent, row: &KeyRow) -> Result<(), sqlx::Error> {
        let (_, key, inbox, is_tombstone, tombstone_digest, state, ..) = row;
        let holder = if *is_tombstone {
            Holder::Tombstone {
                digest: tombstone_digest.as_deref().map(digest).transpose()?,
            }
        } else if state.is_some() {
            if row.13 == Some(true) {
                self.unmarked.push(*inbox);
            }
            Holder::Event(held(event, row)?)
        } else {
            self.orphans.push((key.clone(), *inbox));
            return Ok(());
        };
        if *key == event.id_key().as_bytes() {
            self.by_id = Some(holder);
        } else {
            self.by_digest = Some(holder);
        }
        Ok(())
    }
}

fn held(event: &NewEvent, row: &KeyRow) -> Result<HeldEvent, sqlx::Error> {
    let (_, _, inbox, _, _, state, event_type, its_digest, canonical, ..) = row;
    let (reply_type, reply, is_kept, payload) = (&row.9, &row.10, row.11, &row.12);
    let its_digest = digest(its_digest.as_deref().ok_or_else(unreadable)?)?;
    let payload = if !is_kept {
        None
    } else if its_digest == event.digest() {
        // Equal digests: the stored payload is this one, and need not be fetched.
        Some(event.payload().clone())
    } else {
        payload.clone().map(Bytes::from)
    };
    Ok(HeldEvent {
        inbox: inbox_id(*inbox),
        state: state
            .as_deref()
            .and_then(State::from_name)
            .ok_or_else(unreadable)?,
        event_type: event_type.clone().ok_or_else(unreadable)?,
        digest: its_digest,
        canonical: canonical.as_deref().map(digest).transpose()?,
        payload,
        reply: reply_type
            .clone()
            .map(|media_type| Reply::new(media_type, reply.clone().unwrap_or_default())),
    })
}

/// The lease that a row tells of, or `None` if the row is a buried event.
pub(crate) fn leased(endpoint: &Arc<str>, row: LeasedRow) -> Result<Option<Leased>, sqlx::Error> {
    let (id, token, state, failures, crashes, principal, account, event_id, event_type, ..) = row;
    let (payload, headers, key_id, signed_at, received_at) =
        (row.9, row.10, row.11, row.12, row.13);
    if state != State::Processing.as_str() {
        return Ok(None);
    }
    Ok(Some(Leased {
        lease: Lease::new(inbox_id(id), FencingToken::new(token)),
        event: StoredEvent {
            endpoint: endpoint.clone(),
            principal,
            account: account
                .map(|account| Account::new(&account))
                .transpose()
                .map_err(|_| unreadable())?,
            id: EventId::new(&event_id).map_err(|_| unreadable())?,
            event_type: EventType::new(&event_type).map_err(|_| unreadable())?,
            payload: payload.ok_or_else(unreadable)?.into(),
            headers: headers
                .as_deref()
                .map(KeptHeaders::from_json)
                .unwrap_or_default(),
            key_id,
            signed_at,
            received_at,
        },
        failures: u32::try_from(failures).unwrap_or(u32::MAX),
        crashes: u32::try_from(crashes).unwrap_or(u32::MAX),
    }))
}

/// The lease of an event that was claimed inline, whose row has just been written.
pub(crate) fn leased_inline(event: &NewEvent, lease: Lease, received_at: i64) -> Leased {
    Leased {
        lease,
        event: StoredEvent {
            endpoint: event.endpoint().clone(),
            principal: event.principal().map(str::to_owned),
            account: event
                .account()
                .and_then(|account| Account::new(account).ok()),
            id: event.id().clone(),
            event_type: event.event_type().clone(),
            payload: event.payload().clone(),
            headers: event.headers().clone(),
            key_id: event.key_id().map(str::to_owned),
            signed_at: event.signed_at(),
            received_at,
        },
        failures: 0,
        crashes: 0,
    }
}

/// A fresh row id. Ascending in time, so that rows lie in the order of their arrival.
pub(crate) fn new_id() -> Uuid {
    Uuid::now_v7()
}

pub(crate) fn inbox_id(id: Uuid) -> InboxId {
    InboxId::from_bytes(id.into_bytes())
}

pub(crate) fn uuid(id: InboxId) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}

/// Whole milliseconds, rounded up: a lease is never shorter than asked for.
pub(crate) fn millis(duration: Duration) -> i64 {
    let whole = duration.as_nanos().div_ceil(1_000_000);
    i64::try_from(whole).unwrap_or(i64::MAX).min(TEN_YEARS)
}

/// At most 500 bytes, cut between characters.
pub(crate) fn cut(text: &str) -> &str {
    let end = text.floor_char_boundary(MAX_ERROR_BYTES);
    text.get(..end).unwrap_or_default()
}

/// The reply's columns; nothing is stored of an empty one.
pub(crate) fn reply_columns(reply: &Reply) -> (Option<&str>, Option<&[u8]>) {
    if reply.is_empty() {
        (None, None)
    } else {
        (reply.content_type(), Some(reply.body()))
    }
}

fn digest(bytes: &[u8]) -> Result<ContentDigest, sqlx::Error> {
    bytes
        .try_into()
        .map(ContentDigest::from_bytes)
        .map_err(|_| unreadable())
}

pub(crate) fn unreadable() -> sqlx::Error {
    sqlx::Error::Decode(Box::new(StoreFault::Unreadable))
}

/// How often a claim is tried whose key changes hands in between.
pub(crate) const CLAIM_ROUNDS: usize = 5;
/// A lease that ends later than this was given by a clock that has been set back since.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_hours(1);
/// What quarantine keeps for one endpoint.
pub(crate) const QUARANTINE_BYTES: i64 = 64 * 1024 * 1024;

const MAX_ERROR_BYTES: usize = 500;
/// Beyond any schedule, and far from overflow in either store.
const TEN_YEARS: i64 = 10 * 365 * 24 * 3600 * 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_round_up_and_never_overflow() {
        assert_eq!(millis(Duration::ZERO), 0);
        assert_eq!(millis(Duration::from_nanos(1)), 1);
        assert_eq!(millis(Duration::from_millis(7)), 7);
        assert_eq!(millis(Duration::MAX), TEN_YEARS);
    }

    #[test]
    fn errors_are_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        let long = format!("{}é{}", "x".repeat(499), "y".repeat(9));
        assert_eq!(cut(&long), "x".repeat(499));
    }
}
