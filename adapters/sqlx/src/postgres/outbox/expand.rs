//! Fan-out: each event once, in the order in which events were stored.

use sqlx::types::Uuid;
use sqlx::{Connection, PgConnection};
use webhook_core::outbox::Expanded;

use crate::outbox::{FAN_OUT_RANGE, endpoint_id};

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
    let (events, deliveries, is_cut, endpoints): (i64, i64, bool, Vec<Uuid>) =
        sqlx::query_as(EXPAND)
            .bind(i64::from(max_events))
            .bind(FAN_OUT_RANGE)
            .fetch_one(&mut *tx)
            .await?;
    tx.commit().await?;
    let mut expanded = Expanded::new(events.unsigned_abs(), deliveries.unsigned_abs());
    expanded.is_partial = is_cut || expanded.events >= u64::from(max_events);
    expanded.endpoints = endpoints.into_iter().map(endpoint_id).collect();
    Ok(expanded)
}

/// One process at a time: two would each see what the other has not yet, and number deliveries of one
/// order key against the order of their commits. The number is arbitrary and must never change.
const LOCK: &str = "select pg_catalog.pg_try_advisory_xact_lock(8606216600190207)";

/// A statement of its own, whose snapshot is younger than the lock. Endpoints are looked at event by
/// event and in the order of their ids; where the range ends within an event, that one is cut there, and
/// those behind it wait for the next call. No key is the empty one where order matters, so that `take`
/// finds deliveries without one beside a million that have one.
const EXPAND: &str = "
with batch as materialized (
    select seq, tenant, event_type, order_key, pg_catalog.octet_length(payload) as size, expanded_to
    from webhook.outbox_event
    where expanded_at is null
    order by seq
    limit $1
), pair as materialized (
    select batch.seq, endpoint.id, is_wanted, size,
        case when is_ordered then coalesce(order_key, '') else order_key end as order_key
    from batch
    cross join lateral (
        select id, is_ordered, exists (
            select from pg_catalog.unnest(filter) as pattern
            where pattern = '*' or pattern = batch.event_type
               or (pg_catalog.right(pattern, 2) = '.*'
                   and pg_catalog.starts_with(batch.event_type, pg_catalog.left(pattern, -1)))
            ) as is_wanted
        from webhook.outbox_endpoint
        where tenant = batch.tenant and state in ('enabled', 'paused')
          and id > coalesce(batch.expanded_to, '00000000-0000-0000-0000-000000000000')
        order by id
        limit $2
    ) as endpoint
    limit $2
), cut as materialized (
    select seq, id from pair
    where (select pg_catalog.count(*) from pair) = $2
    order by seq desc, id desc
    limit 1
), made as (
    insert into webhook.outbox_delivery (event, endpoint, size, order_key)
    select seq, id, size, order_key from pair where is_wanted order by seq, id
    returning endpoint
), done as (
    update webhook.outbox_event as event set
        expanded_at = case when event.seq is distinct from (select seq from cut)
            then pg_catalog.clock_timestamp() end,
        expanded_to = case when event.seq = (select seq from cut) then (select id from cut) end
    where event.seq in (select seq from batch)
      and event.seq <= coalesce((select seq from cut), event.seq)
    returning expanded_at
)
select (select pg_catalog.count(expanded_at) from done), (select pg_catalog.count(*) from made),
    exists (select from cut),
    array(select distinct endpoint from made limit 512)";
