//! How attempts ended, and what that makes of their endpoints.

use std::collections::BTreeMap;

use sqlx::types::Uuid;
use sqlx::{ColumnIndex, Decode, FromRow, Row, SqliteConnection, Type};
use webhook_core::outbox::{
    AttemptRecord, Beat, Change, EndpointId, Health, HealthPolicy, Recorded,
};

use super::enqueue;
use crate::outbox::{Entry, HealthRow, beat, endpoint_uuid, next, notice};
use crate::stored::from_row;

#[derive(Debug)]
struct FaredRow {
    tenant: String,
    now: i64,
    health: HealthRow,
}

from_row!(FaredRow { tenant, now } health);

pub(super) async fn record(
    conn: &mut SqliteConnection,
    attempts: &[AttemptRecord],
    policy: &HealthPolicy,
) -> Result<Recorded, sqlx::Error> {
    let mut held = Vec::with_capacity(attempts.len());
    let mut beats: BTreeMap<EndpointId, Vec<Beat>> = BTreeMap::new();
    for attempt in attempts {
        let entry = end(conn, attempt).await?;
        if entry == Entry::Now {
            beats
                .entry(attempt.endpoint)
                .or_default()
                .push(beat(attempt));
        }
        held.push(entry != Entry::Lost);
    }
    let mut changes = Vec::new();
    for (endpoint, beats) in beats {
        for change in fare(conn, endpoint, &beats, policy).await? {
            changes.push((endpoint, change));
        }
    }
    Ok(Recorded::new(held, changes))
}

pub(super) async fn is_lost(conn: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(IS_LOST).fetch_one(conn).await
}

pub(super) async fn rescue(
    conn: &mut SqliteConnection,
    max_attempts: u32,
    batch: u32,
) -> Result<u64, sqlx::Error> {
    let lost: Vec<i64> = sqlx::query_scalar(LOST)
        .bind(i64::from(batch))
        .fetch_all(&mut *conn)
        .await?;
    for delivery in &lost {
        sqlx::query(LOG_LOST)
            .bind(delivery)
            .execute(&mut *conn)
            .await?;
        sqlx::query(BACK)
            .bind(delivery)
            .bind(i64::from(max_attempts))
            .execute(&mut *conn)
            .await?;
    }
    Ok(lost.len() as u64)
}

async fn end(conn: &mut SqliteConnection, attempt: &AttemptRecord) -> Result<Entry, sqlx::Error> {
    let (state, pause) = next(attempt.next);
    let status = attempt.status.map(i64::from);
    let ended = sqlx::query(END)
        .bind(attempt.share.delivery.get())
        .bind(attempt.share.token.get())
        .bind(state.as_str())
        .bind(pause)
        .bind(attempt.class.as_str())
        .bind(status)
        .execute(&mut *conn)
        .await?;
    if ended.rows_affected() == 0 {
        let is_on_record: bool = sqlx::query_scalar(IS_ON_RECORD)
            .bind(attempt.share.delivery.get())
            .bind(attempt.share.token.get())
            .fetch_one(conn)
            .await?;
        return Ok(if is_on_record {
            Entry::Before
        } else {
            Entry::Lost
        });
    }
    sqlx::query(LOG)
        .bind(attempt.share.delivery.get())
        .bind(attempt.share.token.get())
        .bind(i64::from(attempt.attempt))
        .bind(attempt.class.as_str())
        .bind(status)
        .bind(attempt.address.map(|address| address.to_string()))
        .bind(attempt.was_allow_listed)
        .bind(i64::try_from(attempt.took.as_millis()).unwrap_or(i64::MAX))
        .bind(&attempt.answer[..])
        .execute(conn)
        .await?;
    Ok(Entry::Now)
}

/// Change the health of an endpoint where `beats` change it. Almost always they do not.
async fn fare(
    conn: &mut SqliteConnection,
    endpoint: EndpointId,
    beats: &[Beat],
    policy: &HealthPolicy,
) -> Result<Vec<Change>, sqlx::Error> {
    let id = endpoint_uuid(endpoint);
    let row: Option<FaredRow> = sqlx::query_as(FARED)
        .bind(id)
        .fetch_optional(&mut *conn)
        .await?;
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    let was = row.health.read();
    let (health, changes) = was.after(beats.iter().copied(), row.now, policy);
    if health != was || !changes.is_empty() {
        keep(
            conn,
            id,
            &health,
            changes.iter().find_map(|change| change.disables()),
        )
        .await?;
    }
    for change in &changes {
        if let Some(event) = notice(&row.tenant, endpoint, *change)? {
            enqueue::insert(conn, &event).await?;
        }
    }
    Ok(changes)
}

async fn keep(
    conn: &mut SqliteConnection,
    id: Uuid,
    health: &Health,
    disabled: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query(KEEP)
        .bind(id)
        .bind(i64::from(health.failures))
        .bind(i64::from(health.slow))
        .bind(health.is_proven)
        .bind(health.failing_since)
        .bind(health.open_until)
        .bind(health.is_noticed)
        .bind(disabled)
        .execute(conn)
        .await?;
    Ok(())
}

/// Under the token and before the lease's end, or not at all.
const END: &str = concat!(
    "
update webhook_outbox_delivery set
    state = ?3, token = null, last_class = ?5, last_status = ?6,
    settled_at = case when ?3 <> 'pending' then ",
    now!(),
    " end,
    due_at = ",
    now!(),
    " + ?4
where id = ?1 and token = ?2 and state = 'sending' and due_at > ",
    now!()
);

const LOG: &str = "
insert into webhook_outbox_attempt
    (delivery, token, attempt, class, status, address, was_allow_listed, took_millis, answer)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

const IS_ON_RECORD: &str = "
select exists (select 1 from webhook_outbox_attempt where delivery = ?1 and token = ?2)";

/// A lease that ends too late was given by a clock that has been set back since: it has run out.
macro_rules! lost {
    () => {
        concat!(
            "from webhook_outbox_delivery where state = 'sending' and (due_at <= ",
            now!(),
            " or due_at > ",
            now!(),
            " + 3600000)"
        )
    };
}

const IS_LOST: &str = concat!("select exists (select 1 ", lost!(), ")");
const LOST: &str = concat!("select id ", lost!(), " order by due_at limit ?1");

const LOG_LOST: &str = "
insert into webhook_outbox_attempt (delivery, attempt, class, was_allow_listed, took_millis, answer)
select id, attempts, 'unknown', 0, 0, x'' from webhook_outbox_delivery where id = ?1";

const BACK: &str = concat!(
    "
update webhook_outbox_delivery set
    state = case when attempts < ?2 then 'pending' else 'dead' end,
    settled_at = case when attempts >= ?2 then ",
    now!(),
    " end,
    due_at = ",
    now!(),
    ", token = null, last_class = 'unknown', last_status = null
where id = ?1"
);

const FARED: &str = concat!(
    "select tenant, ",
    now!(),
    " as now, failures, slow, is_proven, failing_since, open_until, is_noticed
from webhook_outbox_endpoint where id = ?1 and state in ('enabled', 'paused')"
);

const KEEP: &str = "
update webhook_outbox_endpoint set
    failures = ?2, slow = ?3, is_proven = ?4, failing_since = ?5, open_until = ?6, is_noticed = ?7,
    state = case when ?8 is null then state else 'disabled' end,
    state_reason = case when ?8 is null then state_reason else ?8 end,
    version = case when ?8 is null then version else version + 1 end
where id = ?1";
