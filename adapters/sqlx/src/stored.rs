//! What both stores read and write in the same way.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sqlx::types::Uuid;
use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};
use webhook_core::ledger::{FencingToken, Lease, Leased, LedgerError, StoredEvent};
use webhook_core::{
    Account, ClaimKey, ContentDigest, EventId, EventType, HeldEvent, Holder, InboxId, KeptHeaders,
    NewEvent, Reply, State,
};

use crate::error::StoreFault;

/// A claim key that an event wants, and who holds it.
#[derive(Debug)]
pub(crate) struct KeyRow {
    /// Position of the event in its batch.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "SQLite reads one event at a time")
    )]
    pub(crate) position: i64,
    key: Vec<u8>,
    inbox: Uuid,
    is_tombstone: bool,
    tombstone: Option<Vec<u8>>,
    /// This and all that follows belongs to the holder's event, and is null where it has no row.
    state: Option<String>,
    event_type: Option<String>,
    digest: Option<Vec<u8>>,
    canonical: Option<Vec<u8>>,
    reply_type: Option<String>,
    reply: Option<Vec<u8>>,
    is_payload_kept: bool,
    /// Fetched only where contents must be compared.
    payload: Option<Vec<u8>>,
    was_seen_lately: Option<bool>,
    has_escaped: Option<bool>,
}

/// An event as leased.
#[derive(Debug)]
pub(crate) struct LeasedRow {
    id: Uuid,
    id_key: Vec<u8>,
    token: i64,
    state: String,
    failures: i64,
    crashes: i64,
    contended: i64,
    principal: Option<String>,
    account: Option<String>,
    event_id: String,
    event_type: String,
    payload: Option<Vec<u8>>,
    headers: Option<String>,
    key_id: Option<String>,
    signed_at: Option<i64>,
    received_at: i64,
}

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
    pub(crate) fn add(&mut self, event: &NewEvent, row: KeyRow) -> Result<(), sqlx::Error> {
        let is_id = row.key == event.id_key().as_bytes();
        let holder = if row.is_tombstone {
            Holder::Tombstone {
                digest: row.tombstone.as_deref().map(digest).transpose()?,
            }
        } else if row.state.is_some() {
            if row.was_seen_lately == Some(false) {
                self.unmarked.push(row.inbox);
            }
            Holder::Event(row.into_held(event)?)
        } else {
            self.orphans.push((row.key, row.inbox));
            return Ok(());
        };
        if is_id {
            self.by_id = Some(holder);
        } else {
            self.by_digest = Some(holder);
        }
        Ok(())
    }
}

impl KeyRow {
    fn into_held(self, event: &NewEvent) -> Result<HeldEvent, sqlx::Error> {
        let its_digest = digest(&self.digest.ok_or_else(unreadable)?)?;
        let payload = if !self.is_payload_kept {
            None
        } else if its_digest == event.digest() {
            // Equal digests: the stored payload is this one, and need not be fetched.
            Some(event.payload().clone())
        } else {
            self.payload.map(Bytes::from)
        };
        let state = self.state.as_deref().and_then(State::from_name);
        let reply = self.reply.unwrap_or_default();
        Ok(HeldEvent {
            inbox: inbox_id(self.inbox),
            state: state.ok_or_else(unreadable)?,
            event_type: self.event_type.ok_or_else(unreadable)?,
            digest: its_digest,
            canonical: self.canonical.as_deref().map(digest).transpose()?,
            payload,
            reply: self
                .reply_type
                .map(|media_type| Reply::new(media_type, reply)),
            has_escaped: self.has_escaped.unwrap_or(false),
        })
    }
}

impl LeasedRow {
    /// The lease it tells of, or `None` if the event was buried instead.
    pub(crate) fn into_leased(self, endpoint: &Arc<str>) -> Result<Option<Leased>, sqlx::Error> {
        if self.state != State::Processing.as_str() {
            return Ok(None);
        }
        let key = self.id_key[..].try_into().map_err(|_| unreadable())?;
        let account = self.account.as_deref().map(Account::new).transpose();
        let mut event = StoredEvent::new(
            ClaimKey::from_bytes(key),
            endpoint.clone(),
            EventId::new(&self.event_id).map_err(|_| unreadable())?,
            EventType::new(&self.event_type).map_err(|_| unreadable())?,
            self.payload.ok_or_else(unreadable)?.into(),
        );
        event.principal = self.principal;
        event.account = account.map_err(|_| unreadable())?;
        event.headers = self
            .headers
            .as_deref()
            .map(KeptHeaders::from_json)
            .unwrap_or_default();
        event.key_id = self.key_id;
        event.signed_at = self.signed_at;
        event.received_at = self.received_at;
        let lease = Lease::new(inbox_id(self.id), FencingToken::new(self.token));
        let mut leased = Leased::new(lease, event);
        leased.failures = u32::try_from(self.failures).unwrap_or(u32::MAX);
        leased.crashes = u32::try_from(self.crashes).unwrap_or(u32::MAX);
        leased.contended = u32::try_from(self.contended).unwrap_or(u32::MAX);
        Ok(Some(leased))
    }
}

/// Reads a row of either store by the names of its columns.
macro_rules! from_row {
    ($row:ident { $($column:ident),* $(,)? } $($part:ident)*) => {
        impl<'r, R: Row> FromRow<'r, R> for $row
        where
            &'static str: ColumnIndex<R>,
            bool: Decode<'r, R::Database> + Type<R::Database>,
            i64: Decode<'r, R::Database> + Type<R::Database>,
            String: Decode<'r, R::Database> + Type<R::Database>,
            Uuid: Decode<'r, R::Database> + Type<R::Database>,
            Vec<u8>: Decode<'r, R::Database> + Type<R::Database>,
        {
            fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
                Ok(Self {
                    $($column: row.try_get(stringify!($column))?,)*
                    $($part: FromRow::from_row(row)?,)*
                })
            }
        }
    };
}

pub(crate) use from_row;

from_row!(KeyRow {
    position,
    key,
    inbox,
    is_tombstone,
    tombstone,
    state,
    event_type,
    digest,
    canonical,
    reply_type,
    reply,
    is_payload_kept,
    payload,
    was_seen_lately,
    has_escaped,
});

from_row!(LeasedRow {
    id,
    id_key,
    token,
    state,
    failures,
    crashes,
    contended,
    principal,
    account,
    event_id,
    event_type,
    payload,
    headers,
    key_id,
    signed_at,
    received_at,
});

/// The lease of an event that was claimed inline, whose row has just been written.
pub(crate) fn leased_inline(event: &NewEvent, lease: Lease, received_at: i64) -> Leased {
    let mut stored = StoredEvent::new(
        event.id_key(),
        event.endpoint().clone(),
        event.id().clone(),
        event.event_type().clone(),
        event.payload().clone(),
    );
    stored.principal = event.principal().map(str::to_owned);
    stored.account = event
        .account()
        .and_then(|account| Account::new(account).ok());
    stored.headers = event.headers().clone();
    stored.key_id = event.key_id().map(str::to_owned);
    stored.signed_at = event.signed_at();
    stored.received_at = received_at;
    Leased::new(lease, stored)
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

/// At most 500 bytes, cut between characters. PostgreSQL holds no NUL in text, so that a handler's words
/// with one in them would keep its failure from being recorded.
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    let end = text.floor_char_boundary(MAX_ERROR_BYTES);
    let text = text.get(..end).unwrap_or_default();
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// The reply's columns; nothing is stored of an empty one.
pub(crate) fn reply_columns(reply: &Reply) -> (Option<&str>, Option<&[u8]>) {
    if reply.is_empty() {
        (None, None)
    } else {
        (reply.content_type(), Some(reply.body()))
    }
}

pub(crate) fn digest(bytes: &[u8]) -> Result<ContentDigest, sqlx::Error> {
    bytes
        .try_into()
        .map(ContentDigest::from_bytes)
        .map_err(|_| unreadable())
}

/// The refusal of a key that must not come back.
pub(crate) fn spent_key(endpoint: &str) -> LedgerError {
    LedgerError::unfit(format!(
        "a key of endpoint `{endpoint}` was retired so long ago that the events it signed are \
         forgotten: they could run again; use a new secret"
    ))
}

pub(crate) fn unreadable() -> sqlx::Error {
    sqlx::Error::Decode(Box::new(StoreFault::Unreadable))
}

/// How much longer than its bound a pause may seem, for what a schedule rounds and orders.
pub(crate) const CLOCK_MARGIN: Duration = Duration::from_mins(1);
/// How often a claim is tried whose key changes hands in between.
pub(crate) const CLAIM_ROUNDS: usize = 5;

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
        assert_eq!(cut("a\0b"), "a b");
    }
}
