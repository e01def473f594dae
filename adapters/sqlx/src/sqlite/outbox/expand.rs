//! Fan-out: each event once, in the order in which events were stored.

use sqlx::SqliteConnection;
use webhook_core::outbox::Expanded;

pub(super) async fn is_due(conn: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(IS_DUE).fetch_one(conn).await
}

pub(super) async fn expand(
    conn: &mut SqliteConnection,
    max_events: u32,
) -> Result<Expanded, sqlx::Error> {
    let batch: Option<(i64, i64)> = sqlx::query_as(BATCH)
        .bind(i64::from(max_events))
        .fetch_optional(&mut *conn)
        .await?;
    let Some((last, events)) = batch.filter(|(_, events)| *events > 0) else {
        return Ok(Expanded::default());
    };
    let made = sqlx::query(FAN_OUT).bind(last).execute(&mut *conn).await?;
    sqlx::query(DONE).bind(last).execute(conn).await?;
    Ok(Expanded {
        events: events.unsigned_abs(),
        deliveries: made.rows_affected(),
    })
}

const IS_DUE: &str = "select exists (select 1 from webhook_outbox_event where expanded_at is null)";

const BATCH: &str = "
select coalesce(max(seq), 0), count(*) from (
    select seq from webhook_outbox_event where expanded_at is null order by seq limit ?1)";

/// No key is the empty one where order matters, so that `take` finds deliveries without one beside a
/// million that have one.
const FAN_OUT: &str = "
insert into webhook_outbox_delivery (event, endpoint, size, order_key)
select event.seq, endpoint.id, length(event.payload),
    case when endpoint.is_ordered then coalesce(event.order_key, '') else event.order_key end
from webhook_outbox_event as event
join webhook_outbox_endpoint as endpoint on endpoint.tenant = event.tenant
where event.expanded_at is null and event.seq <= ?1
  and endpoint.state in ('enabled', 'paused')
  and exists (
    select 1 from json_each(endpoint.filter) as pattern
    where pattern.value = '*' or pattern.value = event.event_type
       or (substr(pattern.value, -2) = '.*'
           and substr(event.event_type, 1, length(pattern.value) - 1)
             = substr(pattern.value, 1, length(pattern.value) - 1)))
order by event.seq, endpoint.id";

const DONE: &str = concat!(
    "update webhook_outbox_event set expanded_at = ",
    now!(),
    " where expanded_at is null and seq <= ?1"
);
