//! Fan-out: each event once, in the order in which events were stored.

use sqlx::{Connection, PgConnection};
use webhook_core::outbox::Expanded;

pub(super) async fn expand(
    conn: &mut PgConnection,
    max_events: u32,
) -> Result<Expanded, sqlx::Error> {
    let mut tx = conn.begin().await?;
    let is_mine: bool = sqlx::query_scalar(LOCK).fetch_one(&mut *tx).await?;
    if !is_mine {
        tx.rollback().await?;
        return Ok(Expanded::default());
    }
    let (events, deliveries): (i64, i64) = sqlx::query_as(EXPAND)
        .bind(i64::from(max_events))
        .fetch_one(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(Expanded {
        events: events.unsigned_abs(),
        deliveries: deliveries.unsigned_abs(),
    })
}

/// One process at a time: two would each see what the other has not yet, and number deliveries of one
/// order key against the order of their commits. The number is arbitrary and must never change.
const LOCK: &str = "select pg_catalog.pg_try_advisory_xact_lock(8606216600190207)";

/// A statement of its own, whose snapshot is younger than the lock. No key is the empty one where order
/// matters, so that `take` finds deliveries without one beside a million that have one.
const EXPAND: &str = "
with batch as materialized (
    select seq, tenant, event_type, order_key, pg_catalog.octet_length(payload) as size
    from webhook.outbox_event
    where expanded_at is null
    order by seq
    limit $1
), made as (
    insert into webhook.outbox_delivery (event, endpoint, size, order_key)
    select batch.seq, endpoint.id, batch.size,
        case when endpoint.is_ordered then coalesce(batch.order_key, '') else batch.order_key end
    from batch
    join webhook.outbox_endpoint as endpoint using (tenant)
    where endpoint.state in ('enabled', 'paused')
      and exists (
        select from pg_catalog.unnest(endpoint.filter) as pattern
        where pattern = '*' or pattern = batch.event_type
           or (pg_catalog.right(pattern, 2) = '.*'
               and pg_catalog.starts_with(batch.event_type, pg_catalog.left(pattern, -1))))
    order by batch.seq, endpoint.id
    returning 1
), done as (
    update webhook.outbox_event set expanded_at = pg_catalog.clock_timestamp()
    where seq in (select seq from batch)
    returning 1
)
select (select pg_catalog.count(*) from done), (select pg_catalog.count(*) from made)";
