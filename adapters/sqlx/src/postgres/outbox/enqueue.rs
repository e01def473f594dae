//! One row in the application's own transaction.

use sqlx::PgConnection;
use webhook_core::outbox::{EndpointId, EnqueueError, Enqueued, Event, EventId};

use crate::error::{StoreFault, contention, ledger_error};
use crate::outbox::endpoint_uuid;
use crate::stored::unreadable;

pub(super) async fn enqueue(
    conn: &mut PgConnection,
    event: &Event,
) -> Result<Enqueued, EnqueueError> {
    let failed = |error| EnqueueError::Store(ledger_error(error));
    let digest = event.digest();
    for _ in 0..TRIES {
        if insert(conn, event).await.map_err(failed)? {
            return Ok(Enqueued::New(event.id().clone()));
        }
        let first: Option<(String, Vec<u8>)> = sqlx::query_as(FIRST)
            .bind(event.tenant())
            .bind(event.idempotency())
            .fetch_optional(&mut *conn)
            .await
            .map_err(failed)?;
        match first {
            Some((id, first)) if first == digest => {
                let id = EventId::new(id).map_err(|_| failed(unreadable()))?;
                return Ok(Enqueued::Before(id));
            }
            Some(_) => return Err(EnqueueError::Conflict),
            // Forgotten between the two statements: the key is free.
            None => {}
        }
    }
    Err(EnqueueError::Store(contention(StoreFault::Unsettled)))
}

/// Whether its idempotency key, if it has one, was free.
pub(super) async fn insert(conn: &mut PgConnection, event: &Event) -> Result<bool, sqlx::Error> {
    let stored = sqlx::query(ENQUEUE)
        .bind(event.id().as_str())
        .bind(event.tenant())
        .bind(event.event_type())
        .bind(event.idempotency())
        .bind(&event.digest()[..])
        .bind(event.order())
        .bind(&event.payload()[..])
        .execute(conn)
        .await?;
    Ok(stored.rows_affected() == 1)
}

/// Whether there is such an endpoint, and it is enabled.
pub(super) async fn send_to(
    conn: &mut PgConnection,
    endpoint: EndpointId,
    event: &Event,
) -> Result<bool, sqlx::Error> {
    let stored = sqlx::query(SEND_TO)
        .bind(endpoint_uuid(endpoint))
        .bind(event.id().as_str())
        .bind(event.tenant())
        .bind(event.event_type())
        .bind(&event.digest()[..])
        .bind(&event.payload()[..])
        .execute(conn)
        .await?;
    Ok(stored.rows_affected() == 1)
}

const TRIES: u32 = 3;

/// Only a used idempotency key is passed over: a used id is an error.
const ENQUEUE: &str = "
insert into webhook.outbox_event
    (id, tenant, event_type, idempotency_key, digest, order_key, payload)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (tenant, idempotency_key) do nothing";

const FIRST: &str = "
select id, digest from webhook.outbox_event where tenant = $1 and idempotency_key = $2";

/// Fanned out already, to one endpoint.
const SEND_TO: &str = "
with target as materialized (
    select id, case when is_ordered then '' end as order_key
    from webhook.outbox_endpoint where id = $1 and tenant = $3 and state = 'enabled'
), stored as (
    insert into webhook.outbox_event (id, tenant, event_type, digest, payload, expanded_at)
    select $2, $3, $4, $5, $6, pg_catalog.clock_timestamp() from target
    returning seq
)
insert into webhook.outbox_delivery (event, endpoint, size, order_key)
select stored.seq, target.id, pg_catalog.octet_length($6), target.order_key
from target cross join stored";
