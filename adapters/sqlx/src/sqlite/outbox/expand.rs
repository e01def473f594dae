//! Fan-out: each event once, in the order in which events were stored.

use std::collections::BTreeSet;

use sqlx::SqliteConnection;
use sqlx::types::Uuid;
use webhook_core::outbox::Expanded;

use crate::outbox::{FAN_OUT_RANGE, endpoint_id};

pub(super) async fn is_due(conn: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(IS_DUE).fetch_one(conn).await
}

/// Endpoints are looked at event by event and in the order of their ids; where the range ends within an
/// event, that one is cut there, and those behind it wait for the next call.
pub(super) async fn expand(
    conn: &mut SqliteConnection,
    max_events: u32,
) -> Result<Expanded, sqlx::Error> {
    let batch: Vec<(i64, Option<Uuid>)> = sqlx::query_as(BATCH)
        .bind(i64::from(max_events))
        .fetch_all(&mut *conn)
        .await?;
    let mut expanded = Expanded::default();
    let mut endpoints = BTreeSet::new();
    let mut left = FAN_OUT_RANGE;
    for (event, after) in batch {
        let after = after.unwrap_or_default();
        let (last, count): (Option<Uuid>, i64) = sqlx::query_as(RANGE)
            .bind(event)
            .bind(after)
            .bind(left)
            .fetch_one(&mut *conn)
            .await?;
        let made: Vec<Uuid> = sqlx::query_scalar(FAN_OUT)
            .bind(event)
            .bind(after)
            .bind(last)
            .fetch_all(&mut *conn)
            .await?;
        expanded.deliveries = expanded.deliveries.saturating_add(made.len() as u64);
        endpoints.extend(made);
        let is_cut = count >= left;
        sqlx::query(if is_cut { CUT } else { DONE })
            .bind(event)
            .bind(last)
            .execute(&mut *conn)
            .await?;
        if is_cut {
            expanded.is_partial = true;
            break;
        }
        left = left.saturating_sub(count);
        expanded.events = expanded.events.saturating_add(1);
    }
    expanded.is_partial |= expanded.events >= u64::from(max_events);
    expanded.endpoints = endpoints.into_iter().take(512).map(endpoint_id).collect();
    Ok(expanded)
}

const IS_DUE: &str = "select exists (select 1 from webhook_outbox_event where expanded_at is null)";

const BATCH: &str = "
select seq, expanded_to from webhook_outbox_event where expanded_at is null order by seq limit ?1";

const RANGE: &str = "
select max(id), count(*) from (
    select endpoint.id
    from webhook_outbox_event as event
    cross join webhook_outbox_endpoint as endpoint on endpoint.tenant = event.tenant
    where event.seq = ?1 and endpoint.id > ?2 and endpoint.state in ('enabled', 'paused')
    order by endpoint.id
    limit ?3)";

/// No key is the empty one where order matters, so that `take` finds deliveries without one beside a
/// million that have one.
const FAN_OUT: &str = "
insert into webhook_outbox_delivery (event, endpoint, size, order_key)
select event.seq, endpoint.id, length(event.payload),
    case when endpoint.is_ordered then coalesce(event.order_key, '') else event.order_key end
from webhook_outbox_event as event
cross join webhook_outbox_endpoint as endpoint on endpoint.tenant = event.tenant
where event.seq = ?1 and endpoint.id > ?2 and endpoint.id <= ?3
  and endpoint.state in ('enabled', 'paused')
  and exists (
    select 1 from json_each(endpoint.filter) as pattern
    where pattern.value = '*' or pattern.value = event.event_type
       or (substr(pattern.value, -2) = '.*'
           and substr(event.event_type, 1, length(pattern.value) - 1)
             = substr(pattern.value, 1, length(pattern.value) - 1)))
order by endpoint.id
returning endpoint";

const DONE: &str = concat!(
    "update webhook_outbox_event set expanded_to = null, expanded_at = ",
    now!(),
    " where seq = ?1"
);

const CUT: &str = "update webhook_outbox_event set expanded_to = ?2 where seq = ?1";
