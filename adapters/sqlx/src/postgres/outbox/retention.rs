//! What waited too long, and what need not be kept.

use sqlx::{Connection, PgConnection};
use webhook_core::outbox::{Pruned, Retention};

use crate::stored::millis;

pub(super) async fn prune(
    conn: &mut PgConnection,
    what: &Retention,
) -> Result<Pruned, sqlx::Error> {
    let batch = i64::from(what.batch);
    let given_up = sqlx::query(GIVE_UP)
        .bind(millis(what.give_up_after))
        .bind(batch)
        .execute(&mut *conn)
        .await?
        .rows_affected();
    let stranded = sqlx::query(STRANDED)
        .bind(batch)
        .execute(&mut *conn)
        .await?
        .rows_affected();
    let attempts = sqlx::query(ATTEMPTS)
        .bind(millis(what.keep_attempts))
        .bind(batch)
        .execute(&mut *conn)
        .await?
        .rows_affected();
    let events = forget(conn, what, batch).await?;
    let endpoints = sqlx::query(DELETED)
        .bind(batch)
        .execute(conn)
        .await?
        .rows_affected();
    let given_up = given_up.saturating_add(stranded);
    Ok(Pruned::new(given_up, events, attempts, endpoints))
}

/// Two statements: what an operator sent again before the lock is seen by the second, and afterwards
/// nobody does. See `resend`, which passes over events that are locked.
async fn forget(conn: &mut PgConnection, what: &Retention, batch: i64) -> Result<u64, sqlx::Error> {
    let mut tx = conn.begin().await?;
    let old: Vec<i64> = sqlx::query_scalar(OLD)
        .bind(millis(what.keep_events))
        .bind(batch)
        .fetch_all(&mut *tx)
        .await?;
    let mut events = 0i64;
    if !old.is_empty() {
        events = sqlx::query_scalar(FORGET)
            .bind(old)
            .fetch_one(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(events.unsigned_abs())
}

const GIVE_UP: &str = "
with late as materialized (
    select id from webhook.outbox_delivery
    where state = 'pending'
      and waiting_since < (select pg_catalog.clock_timestamp()) - $1::bigint * interval '1 millisecond'
    order by waiting_since
    limit $2
    for update skip locked
)
update webhook.outbox_delivery as delivery set
    state = 'dead', settled_at = pg_catalog.clock_timestamp()
from late where delivery.id = late.id";

/// What waits for an endpoint that is deleted.
const STRANDED: &str = "
with stranded as materialized (
    select delivery.id
    from webhook.outbox_endpoint as endpoint
    cross join lateral (
        select id from webhook.outbox_delivery
        where endpoint = endpoint.id and state = 'pending'
        limit $1
        for update skip locked
    ) as delivery
    where endpoint.state = 'deleted'
    limit $1
)
update webhook.outbox_delivery as delivery set
    state = 'dead', settled_at = pg_catalog.clock_timestamp()
from stranded where delivery.id = stranded.id";

const ATTEMPTS: &str = "
with old as materialized (
    select id from webhook.outbox_attempt
    where ended_at < (select pg_catalog.clock_timestamp()) - $1::bigint * interval '1 millisecond'
    order by ended_at
    limit $2
    for update skip locked
)
delete from webhook.outbox_attempt as attempt using old where attempt.id = old.id";

/// An event goes with all of its deliveries and their attempts, so long after the last of them was settled.
const OLD: &str = "
select seq from webhook.outbox_event as event
where expanded_at is not null
  and enqueued_at < (select pg_catalog.clock_timestamp()) - $1::bigint * interval '1 millisecond'
  and not exists (
    select from webhook.outbox_delivery
    where event = event.seq and (state in ('pending', 'sending')
      or settled_at >= (select pg_catalog.clock_timestamp()) - $1::bigint * interval '1 millisecond'))
order by enqueued_at
limit $2
for update skip locked";

const FORGET: &str = "
with old as materialized (
    select seq from unnest($1::bigint[]) as old (seq)
    where not exists (
        select from webhook.outbox_delivery
        where event = old.seq and state in ('pending', 'sending'))
), deliveries as (
    delete from webhook.outbox_delivery as delivery using old where delivery.event = old.seq
    returning delivery.id
), attempts as (
    delete from webhook.outbox_attempt as attempt using deliveries
    where attempt.delivery = deliveries.id
), events as (
    delete from webhook.outbox_event as event using old where event.seq = old.seq
    returning 1
)
select pg_catalog.count(*) from events";

/// A deleted endpoint goes after the last of its deliveries.
const DELETED: &str = "
with deleted as materialized (
    select id from webhook.outbox_endpoint
    where state = 'deleted' and not exists (
        select from webhook.outbox_delivery where endpoint = outbox_endpoint.id offset 0)
    limit $1
    for update skip locked
)
delete from webhook.outbox_endpoint as endpoint using deleted where endpoint.id = deleted.id";
