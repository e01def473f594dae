//! How attempts ended, and what that makes of their endpoints.

use std::collections::BTreeMap;

use sqlx::types::Uuid;
use sqlx::{ColumnIndex, Connection, Decode, FromRow, PgConnection, Row, Type};
use webhook_core::outbox::{
    AttemptRecord, Beat, Change, EndpointId, Health, HealthPolicy, Recorded,
};

use super::enqueue;
use crate::outbox::{Entry, HealthRow, beat, endpoint_id, endpoint_uuid, next, notice};
use crate::stored::from_row;

#[derive(Debug)]
struct FaredRow {
    id: Uuid,
    tenant: String,
    now: i64,
    health: HealthRow,
}

from_row!(FaredRow { id, tenant, now } health);

pub(super) async fn record(
    conn: &mut PgConnection,
    attempts: &[AttemptRecord],
    policy: &HealthPolicy,
) -> Result<Recorded, sqlx::Error> {
    let mut tx = conn.begin().await?;
    let entries = end(&mut tx, attempts).await?;
    let mut beats: BTreeMap<EndpointId, Vec<Beat>> = BTreeMap::new();
    for (attempt, entry) in attempts.iter().zip(&entries) {
        if *entry == Entry::Now {
            beats
                .entry(attempt.endpoint)
                .or_default()
                .push(beat(attempt));
        }
    }
    let changes = fare(&mut tx, &beats, policy).await?;
    tx.commit().await?;
    let held = entries.iter().map(|entry| *entry != Entry::Lost).collect();
    Ok(Recorded::new(held, changes))
}

pub(super) async fn rescue(
    conn: &mut PgConnection,
    max_attempts: u32,
    batch: u32,
) -> Result<u64, sqlx::Error> {
    let rescued = sqlx::query(RESCUE)
        .bind(i64::from(max_attempts))
        .bind(i64::from(batch))
        .execute(conn)
        .await?;
    Ok(rescued.rows_affected())
}

async fn end(
    conn: &mut PgConnection,
    attempts: &[AttemptRecord],
) -> Result<Vec<Entry>, sqlx::Error> {
    fn column<'a, T>(
        attempts: &'a [AttemptRecord],
        value: impl Fn(&'a AttemptRecord) -> T,
    ) -> Vec<T> {
        attempts.iter().map(value).collect()
    }
    let found: Vec<(i64, bool)> = sqlx::query_as(END)
        .bind(column(attempts, |attempt| attempt.share.delivery.get()))
        .bind(column(attempts, |attempt| attempt.share.token.get()))
        .bind(column(attempts, |attempt| i64::from(attempt.attempt)))
        .bind(column(attempts, |attempt| attempt.class.as_str()))
        .bind(column(attempts, |attempt| next(attempt.next).0.as_str()))
        .bind(column(attempts, |attempt| next(attempt.next).1))
        .bind(column(attempts, |attempt| attempt.status.map(i64::from)))
        .bind(column(attempts, |attempt| {
            attempt.address.map(|address| address.to_string())
        }))
        .bind(column(attempts, |attempt| attempt.was_allow_listed))
        .bind(column(attempts, |attempt| {
            i64::try_from(attempt.took.as_millis()).unwrap_or(i64::MAX)
        }))
        .bind(column(attempts, |attempt| attempt.answer.to_vec()))
        .fetch_all(conn)
        .await?;
    let mut entries = vec![Entry::Lost; attempts.len()];
    for (position, is_new) in found {
        let place = usize::try_from(position)
            .ok()
            .and_then(|place| place.checked_sub(1));
        if let Some(entry) = place.and_then(|place| entries.get_mut(place)) {
            *entry = if is_new { Entry::Now } else { Entry::Before };
        }
    }
    Ok(entries)
}

/// Change the health of endpoints where `beats` change it. Almost always they do not, and then
/// no row is locked.
async fn fare(
    conn: &mut PgConnection,
    beats: &BTreeMap<EndpointId, Vec<Beat>>,
    policy: &HealthPolicy,
) -> Result<Vec<(EndpointId, Change)>, sqlx::Error> {
    let ids: Vec<Uuid> = beats.keys().map(|id| endpoint_uuid(*id)).collect();
    let rows: Vec<FaredRow> = sqlx::query_as(FARED)
        .bind(ids)
        .fetch_all(&mut *conn)
        .await?;
    let after = |row: &FaredRow| {
        let beats = beats.get(&endpoint_id(row.id)).into_iter().flatten();
        row.health.read().after(beats.copied(), row.now, policy)
    };
    let changing: Vec<Uuid> = rows
        .iter()
        .filter(|row| {
            let (health, changes) = after(row);
            health != row.health.read() || !changes.is_empty()
        })
        .map(|row| row.id)
        .collect();
    if changing.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<FaredRow> = sqlx::query_as(FARED_AND_HELD)
        .bind(changing)
        .fetch_all(&mut *conn)
        .await?;
    let mut all = Vec::new();
    for row in rows {
        let id = endpoint_id(row.id);
        let (health, changes) = after(&row);
        keep(
            conn,
            row.id,
            &health,
            changes.iter().find_map(|change| change.disables()),
        )
        .await?;
        for change in changes {
            if let Some(event) = notice(&row.tenant, id, change)? {
                enqueue::insert(conn, &event).await?;
            }
            all.push((id, change));
        }
    }
    Ok(all)
}

async fn keep(
    conn: &mut PgConnection,
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
const END: &str = "
with ended as materialized (
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[],
        $7::bigint[], $8::text[], $9::boolean[], $10::bigint[], $11::bytea[])
    with ordinality as ended (id, token, attempt, class, state, pause, status, address,
        was_allow_listed, took, answer, position)
), held as (
    update webhook.outbox_delivery as delivery set
        state = ended.state, token = null, last_class = ended.class, last_status = ended.status,
        settled_at = case when ended.state <> 'pending' then pg_catalog.clock_timestamp() end,
        due_at = pg_catalog.clock_timestamp() + ended.pause * interval '1 millisecond'
    from ended
    where delivery.id = ended.id and delivery.token = ended.token and delivery.state = 'sending'
      and delivery.due_at > pg_catalog.clock_timestamp()
    returning ended.position
), logged as (
    insert into webhook.outbox_attempt
        (delivery, token, attempt, class, status, address, was_allow_listed, took_millis, answer)
    select id, token, attempt, class, status, address, was_allow_listed, took, answer
    from ended join held using (position)
    order by position
)
select position, true from held
union all
select position, false from ended
where not exists (select from held where held.position = ended.position)
  and exists (
    select from webhook.outbox_attempt as attempt
    where attempt.delivery = ended.id and attempt.token = ended.token
    offset 0)";

/// A lease that ends too late was given by a clock that has been set back since: it has run out.
const RESCUE: &str = "
with lost as materialized (
    select id from webhook.outbox_delivery
    where state = 'sending'
      and (due_at <= (select pg_catalog.clock_timestamp())
        or due_at > (select pg_catalog.clock_timestamp()) + interval '1 hour')
    order by due_at
    limit $2
    for update skip locked
), back as (
    update webhook.outbox_delivery as delivery set
        state = case when attempts < $1 then 'pending' else 'dead' end,
        settled_at = case when attempts >= $1 then pg_catalog.clock_timestamp() end,
        due_at = pg_catalog.clock_timestamp(), token = null, last_class = 'unknown', last_status = null
    from lost where delivery.id = lost.id
    returning delivery.id, attempts
)
insert into webhook.outbox_attempt
    (delivery, attempt, class, was_allow_listed, took_millis, answer)
select id, attempts, 'unknown', false, 0, '' from back";

macro_rules! fared {
    () => {
        "select id, tenant, (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint as now, \
         failures, slow, is_proven, failing_since, open_until, is_noticed \
         from webhook.outbox_endpoint where id = any($1) and state in ('enabled', 'paused')"
    };
}

const FARED: &str = fared!();
/// In one order, lest two that record at once wait for each other.
const FARED_AND_HELD: &str = concat!(fared!(), " order by id for no key update");

const KEEP: &str = "
update webhook.outbox_endpoint set
    failures = $2, slow = $3, is_proven = $4, failing_since = $5, open_until = $6, is_noticed = $7,
    state = case when $8::text is null then state else 'disabled' end,
    state_reason = case when $8::text is null then state_reason else $8::text end,
    version = case when $8::text is null then version else version + 1 end
where id = $1";
