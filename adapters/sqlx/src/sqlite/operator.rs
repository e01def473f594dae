//! What operators do: look into quarantine and among stored events, release, discard, replay.

use sqlx::types::Uuid;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};
use webhook_core::ClaimKey;
use webhook_core::ledger::{Found, QuarantineId, Quarantined, Release, Replay, Replayable, Search};

use crate::listed::{FoundRow, QuarantinedRow, found_all, quarantined_all, replay_refused};
use crate::stored::{cut, inbox_id, new_id, unreadable, uuid};

pub(super) async fn quarantined(
    conn: &mut SqliteConnection,
    endpoint: Option<&str>,
    after: Option<QuarantineId>,
    limit: u32,
) -> Result<Vec<Quarantined>, sqlx::Error> {
    let rows: Vec<QuarantinedRow> = sqlx::query_as(QUARANTINED)
        .bind(endpoint)
        .bind(after.map_or(Uuid::nil(), |after| Uuid::from_bytes(*after.as_bytes())))
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await?;
    quarantined_all(rows)
}

pub(super) async fn release(
    conn: &mut SqliteConnection,
    id: QuarantineId,
    actor: &str,
) -> Result<Release, sqlx::Error> {
    let row = Uuid::from_bytes(*id.as_bytes());
    let has_payload: Option<bool> = sqlx::query_scalar(HAS_PAYLOAD)
        .bind(row)
        .fetch_optional(&mut *conn)
        .await?;
    match has_payload {
        None => return Ok(Release::Settled),
        Some(false) => return Ok(Release::NoPayload),
        Some(true) => {}
    }
    let (key, inbox) = (ClaimKey::by_release(id), new_id());
    sqlx::query(RELEASE_KEY)
        .bind(&key.as_bytes()[..])
        .bind(inbox)
        .bind(row)
        .execute(&mut *conn)
        .await?;
    sqlx::query(RELEASE)
        .bind(row)
        .bind(cut(actor))
        .bind(&key.as_bytes()[..])
        .bind(inbox)
        .execute(&mut *conn)
        .await?;
    settle(conn, row, actor, "released").await?;
    Ok(Release::Released(inbox_id(inbox)))
}

pub(super) async fn discard(
    conn: &mut SqliteConnection,
    id: QuarantineId,
    actor: &str,
) -> Result<bool, sqlx::Error> {
    settle(conn, Uuid::from_bytes(*id.as_bytes()), actor, "discarded").await
}

async fn settle(
    conn: &mut SqliteConnection,
    row: Uuid,
    actor: &str,
    resolution: &str,
) -> Result<bool, sqlx::Error> {
    let settled = sqlx::query(SETTLE)
        .bind(row)
        .bind(cut(actor))
        .bind(resolution)
        .execute(conn)
        .await?;
    Ok(settled.rows_affected() == 1)
}

pub(super) async fn find(
    conn: &mut SqliteConnection,
    what: &Search,
) -> Result<Vec<Found>, sqlx::Error> {
    let mut query: QueryBuilder<Sqlite> = QueryBuilder::new(FIND);
    if let Some(endpoint) = &what.endpoint {
        query
            .push(" and endpoint = ")
            .push_bind(endpoint.to_string());
    }
    if let Some(state) = what.state {
        query.push(" and state = '").push(state.as_str()).push("'");
    }
    if let Some(event_type) = &what.event_type {
        query.push(" and event_type = ").push_bind(event_type);
    }
    if let Some(event_id) = &what.event_id {
        query.push(" and event_id = ").push_bind(event_id);
    }
    if let Some(after) = what.after {
        query.push(" and id > ").push_bind(uuid(after));
    }
    query
        .push(" order by id limit ")
        .push_bind(i64::from(what.limit));
    let rows: Vec<FoundRow> = query.build_query_as().fetch_all(conn).await?;
    found_all(rows)
}

pub(super) async fn replay(
    conn: &mut SqliteConnection,
    inbox: Uuid,
    actor: &str,
    which: Replayable,
) -> Result<Replay, sqlx::Error> {
    let replayed = sqlx::query(REPLAY)
        .bind(inbox)
        .bind(cut(actor))
        .bind(which == Replayable::EvenCompleted)
        .execute(&mut *conn)
        .await?;
    if replayed.rows_affected() == 1 {
        return Ok(Replay::Waiting);
    }
    let row = sqlx::query_as("select state, payload is not null from webhook_inbox where id = ?1")
        .bind(inbox)
        .fetch_optional(conn)
        .await?;
    replay_refused(row, which)
}

/// At most `limit` of them.
pub(super) async fn replay_ignored(
    conn: &mut SqliteConnection,
    endpoint: &str,
    event_types: &[String],
    actor: &str,
    limit: u64,
) -> Result<u64, sqlx::Error> {
    let event_types = serde_json::to_string(event_types).map_err(|_| unreadable())?;
    let replayed = sqlx::query(REPLAY_IGNORED)
        .bind(endpoint)
        .bind(event_types)
        .bind(cut(actor))
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .execute(conn)
        .await?;
    Ok(replayed.rows_affected())
}

const QUARANTINED: &str = "
select
    id, endpoint, reason, event_id, event_type, account, digest, first_inbox, first_digest, seen,
    first_seen_at / 1000 as first_seen_at, last_seen_at / 1000 as last_seen_at
from webhook_quarantine
where released_at is null and id > ?2 and (?1 is null or endpoint = ?1)
order by id
limit ?3";

/// A payload that was not kept is the first one's, except where it is the content that differs.
const HAS_PAYLOAD: &str = "
select kept.payload is not null or first.payload is not null
from webhook_quarantine as kept
left join webhook_inbox as first
    on first.id = kept.first_inbox and kept.reason <> 'content_mismatch'
where kept.id = ?1 and kept.released_at is null";

const RELEASE_KEY: &str = "
insert into webhook_claim (key, inbox, kind, key_fingerprint)
select ?1, ?2, 3, key_fingerprint from webhook_quarantine where id = ?3";

const RELEASE: &str = concat!(
    "
insert into webhook_inbox (
    id, endpoint, principal, account, event_id, event_type, state, due_at,
    id_key, digest, key_fingerprint, key_id, signed_at, order_key, headers, payload,
    replayed_at, replayed_by)
select
    ?4, kept.endpoint, kept.principal, kept.account, kept.event_id, kept.event_type, 'pending', ",
    now!(),
    ", ?3, case when kept.payload is null then first.digest else kept.digest end,
    kept.key_fingerprint, kept.key_id, kept.signed_at, kept.order_key, kept.headers,
    coalesce(kept.payload, first.payload), ",
    now!(),
    ", ?2
from webhook_quarantine as kept
left join webhook_inbox as first
    on first.id = kept.first_inbox and kept.reason <> 'content_mismatch'
where kept.id = ?1"
);

const SETTLE: &str = concat!(
    "update webhook_quarantine set released_at = ",
    now!(),
    ", released_by = ?2, resolution = ?3 where id = ?1 and released_at is null"
);

const FIND: &str = "
select
    id, endpoint, event_id, event_type, account, state, failures, crashes, last_error,
    received_at / 1000 as received_at
from webhook_inbox
where true";

const REPLAY: &str = concat!(
    "
update webhook_inbox set
    state = 'pending', due_at = ",
    now!(),
    ",
    failures = 0, crashes = 0, contended = 0, settled_at = null,
    replayed_at = ",
    now!(),
    ", replayed_by = ?2
where id = ?1 and payload is not null
  and (state in ('dead', 'ignored') or (?3 and state = 'completed'))"
);

const REPLAY_IGNORED: &str = concat!(
    "
update webhook_inbox set
    state = 'pending', due_at = ",
    now!(),
    ",
    failures = 0, crashes = 0, contended = 0, settled_at = null,
    replayed_at = ",
    now!(),
    ", replayed_by = ?3
where id in (
    select id from webhook_inbox
    where state in ('dead', 'ignored') and state = 'ignored' and endpoint = ?1
      and event_type in (select value from json_each(?2)) and payload is not null
    order by id
    limit ?4)"
);
