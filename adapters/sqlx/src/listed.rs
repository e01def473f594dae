//! What both stores list for operators in the same way.

use sqlx::types::Uuid;
use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};
use webhook_core::ledger::{Found, QuarantineId, Quarantined, Replay, Replayable};
use webhook_core::{Quarantine, State};

use crate::stored::{digest, from_row, inbox_id, unreadable};

/// A quarantined delivery.
#[derive(Debug)]
pub(crate) struct QuarantinedRow {
    id: Uuid,
    endpoint: String,
    reason: String,
    event_id: String,
    event_type: String,
    account: Option<String>,
    digest: Vec<u8>,
    first_inbox: Option<Uuid>,
    first_digest: Option<Vec<u8>>,
    seen: i64,
    first_seen_at: i64,
    last_seen_at: i64,
}

/// A stored event, as an operator sees it.
#[derive(Debug)]
pub(crate) struct FoundRow {
    id: Uuid,
    endpoint: String,
    event_id: String,
    event_type: String,
    account: Option<String>,
    state: String,
    failures: i64,
    crashes: i64,
    last_error: Option<String>,
    received_at: i64,
}

from_row!(QuarantinedRow {
    id,
    endpoint,
    reason,
    event_id,
    event_type,
    account,
    digest,
    first_inbox,
    first_digest,
    seen,
    first_seen_at,
    last_seen_at,
});

from_row!(FoundRow {
    id,
    endpoint,
    event_id,
    event_type,
    account,
    state,
    failures,
    crashes,
    last_error,
    received_at,
});

pub(crate) fn quarantined_all(rows: Vec<QuarantinedRow>) -> Result<Vec<Quarantined>, sqlx::Error> {
    let read = |row: QuarantinedRow| {
        let mut delivery = Quarantined::new(
            QuarantineId::from_bytes(row.id.into_bytes()),
            Quarantine::from_name(&row.reason).ok_or_else(unreadable)?,
            row.endpoint,
            row.event_id,
            row.event_type,
            digest(&row.digest)?,
        );
        delivery.account = row.account;
        delivery.first = row.first_inbox.map(inbox_id);
        delivery.first_digest = row.first_digest.as_deref().map(digest).transpose()?;
        delivery.seen = row.seen.unsigned_abs();
        delivery.first_seen_at = row.first_seen_at;
        delivery.last_seen_at = row.last_seen_at;
        Ok(delivery)
    };
    rows.into_iter().map(read).collect()
}

pub(crate) fn found_all(rows: Vec<FoundRow>) -> Result<Vec<Found>, sqlx::Error> {
    let read = |row: FoundRow| {
        let mut event = Found::new(
            inbox_id(row.id),
            row.endpoint,
            row.event_id,
            row.event_type,
            State::from_name(&row.state).ok_or_else(unreadable)?,
        );
        event.account = row.account;
        event.failures = u32::try_from(row.failures).unwrap_or(u32::MAX);
        event.crashes = u32::try_from(row.crashes).unwrap_or(u32::MAX);
        event.last_error = row.last_error;
        event.received_at = row.received_at;
        Ok(event)
    };
    rows.into_iter().map(read).collect()
}

/// Why an event was not replayed, by its state and whether its payload is kept.
pub(crate) fn replay_refused(
    row: Option<(String, bool)>,
    which: Replayable,
) -> Result<Replay, sqlx::Error> {
    let Some((state, has_payload)) = row else {
        return Ok(Replay::Unknown);
    };
    let state = State::from_name(&state).ok_or_else(unreadable)?;
    let may_run = match state {
        State::Completed => which == Replayable::EvenCompleted,
        State::Dead | State::Ignored => true,
        _ => false,
    };
    Ok(if may_run && !has_payload {
        Replay::NoPayload
    } else {
        Replay::Refused(state)
    })
}

/// Ignored events replayed by one statement.
pub(crate) const REPLAY_BATCH: u64 = 500;
