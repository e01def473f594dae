//! What operators do: look among deliveries and attempts, send again.

use sqlx::{PgConnection, Postgres, QueryBuilder};
use webhook_core::outbox::{Attempt, DeliveryId, DeliveryRow, EventId, Resend, Search};

use crate::outbox::{AttemptRow, DeliveryFound, endpoint_uuid};
use crate::stored::millis;

pub(super) async fn find(
    conn: &mut PgConnection,
    what: &Search,
) -> Result<Vec<DeliveryRow>, sqlx::Error> {
    let mut query: QueryBuilder<Postgres> = QueryBuilder::new(FIND);
    if let Some(tenant) = &what.tenant {
        query.push(" and event.tenant = ").push_bind(tenant);
    }
    if let Some(endpoint) = what.endpoint {
        query
            .push(" and delivery.endpoint = ")
            .push_bind(endpoint_uuid(endpoint));
    }
    if let Some(event) = &what.event {
        query.push(" and event.id = ").push_bind(event.as_str());
    }
    if let Some(state) = what.state {
        query
            .push(" and delivery.state = ")
            .push_bind(state.as_str());
    }
    if let Some(before) = what.before {
        query.push(" and delivery.id < ").push_bind(before.get());
    }
    query
        .push(" order by delivery.id desc limit ")
        .push_bind(i64::from(what.limit));
    let rows: Vec<DeliveryFound> = query.build_query_as().fetch_all(conn).await?;
    rows.into_iter().map(DeliveryFound::read).collect()
}

pub(super) async fn attempts(
    conn: &mut PgConnection,
    delivery: DeliveryId,
) -> Result<Vec<Attempt>, sqlx::Error> {
    let rows: Vec<AttemptRow> = sqlx::query_as(ATTEMPTS)
        .bind(delivery.get())
        .fetch_all(conn)
        .await?;
    rows.into_iter().rev().map(AttemptRow::read).collect()
}

pub(super) async fn resend(
    conn: &mut PgConnection,
    what: &Resend,
    after: DeliveryId,
    batch: u64,
) -> Result<Vec<DeliveryId>, sqlx::Error> {
    let (after, batch) = (after.get(), i64::try_from(batch).unwrap_or(i64::MAX));
    let query = match what {
        Resend::DeadOf { endpoint, since } => sqlx::query_scalar(RESEND_DEAD)
            .bind(batch)
            .bind(after)
            .bind(endpoint_uuid(*endpoint))
            .bind(millis(*since)),
        Resend::One(delivery) => sqlx::query_scalar(RESEND_ONE)
            .bind(batch)
            .bind(after)
            .bind(delivery.get()),
        Resend::Range {
            endpoint,
            first,
            last,
        } => sqlx::query_scalar(RESEND_RANGE)
            .bind(batch)
            .bind(after)
            .bind(endpoint_uuid(*endpoint))
            .bind(first.get())
            .bind(last.get()),
        _ => return Ok(Vec::new()),
    };
    let ids: Vec<i64> = query.fetch_all(conn).await?;
    Ok(ids.into_iter().map(DeliveryId::new).collect())
}

pub(super) async fn resend_as_new(
    conn: &mut PgConnection,
    delivery: DeliveryId,
) -> Result<Option<EventId>, sqlx::Error> {
    let id = EventId::generate();
    let sent = sqlx::query(AS_NEW)
        .bind(delivery.get())
        .bind(id.as_str())
        .execute(conn)
        .await?;
    Ok((sent.rows_affected() == 1).then_some(id))
}

const FIND: &str = "
select delivery.id, delivery.endpoint, event.tenant, event.id as event_id, event.event_type,
    delivery.state, delivery.attempts, delivery.last_class, delivery.last_status,
    pg_catalog.floor(extract(epoch from event.enqueued_at))::bigint as enqueued_at,
    pg_catalog.floor(extract(epoch from coalesce(delivery.settled_at, delivery.due_at)))::bigint as at
from webhook.outbox_delivery as delivery
join webhook.outbox_event as event on event.seq = delivery.event
where true";

/// Newest first, so that the limit leaves the newest.
const ATTEMPTS: &str = "
select id, delivery, attempt, (extract(epoch from ended_at) * 1000)::bigint as ended_at, class, status,
    address, was_allow_listed, took_millis, answer
from webhook.outbox_attempt where delivery = $1 order by id desc limit 100";

/// After the last of the batch before: what fails at once is not sent again by the same call.
macro_rules! resend {
    ($which:literal) => {
        concat!(
            "with again as materialized (
                select delivery.id
                from webhook.outbox_delivery as delivery
                join webhook.outbox_event as event on event.seq = delivery.event
                join webhook.outbox_endpoint as endpoint on endpoint.id = delivery.endpoint
                where delivery.state in ('dead', 'delivered') and endpoint.state <> 'deleted'
                  and delivery.id > $2 and ",
            $which,
            " order by delivery.id limit $1
                for update of delivery skip locked
                for key share of event skip locked
            )
            update webhook.outbox_delivery as delivery set
                state = 'pending', due_at = pg_catalog.clock_timestamp(), attempts = 0,
                waiting_since = pg_catalog.clock_timestamp(), settled_at = null
            from again where delivery.id = again.id
            returning delivery.id"
        )
    };
}

const RESEND_ONE: &str = resend!("delivery.id = $3");
const RESEND_RANGE: &str = resend!("delivery.endpoint = $3 and delivery.id between $4 and $5");
const RESEND_DEAD: &str = resend!(
    "delivery.endpoint = $3 and delivery.state = 'dead' and event.enqueued_at >= \
     pg_catalog.clock_timestamp() - $4::bigint * interval '1 millisecond'"
);

/// Fanned out already, to one endpoint.
const AS_NEW: &str = "
with original as materialized (
    select event.tenant, event_type, digest, event.order_key as event_key, payload, delivery.endpoint,
        delivery.size, delivery.order_key
    from webhook.outbox_delivery as delivery
    join webhook.outbox_event as event on event.seq = delivery.event
    join webhook.outbox_endpoint as endpoint on endpoint.id = delivery.endpoint
    where delivery.id = $1 and delivery.state in ('dead', 'delivered') and endpoint.state <> 'deleted'
), copy as (
    insert into webhook.outbox_event (id, tenant, event_type, digest, order_key, payload, expanded_at)
    select $2, tenant, event_type, digest, event_key, payload, pg_catalog.clock_timestamp() from original
    returning seq
)
insert into webhook.outbox_delivery (event, endpoint, size, order_key)
select copy.seq, endpoint, size, order_key from original cross join copy";
