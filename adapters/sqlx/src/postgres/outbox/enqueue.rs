//! One row in the application's own transaction.

use sqlx::PgConnection;
use webhook_core::outbox::{EnqueueError, Enqueued, Event, EventId};

use crate::error::{StoreFault, contention, ledger_error};
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

const TRIES: u32 = 3;

/// Only a used idempotency key is passed over: a used id is an error.
const ENQUEUE: &str = "
insert into webhook.outbox_event
    (id, tenant, event_type, idempotency_key, digest, order_key, payload)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (tenant, idempotency_key) do nothing";

const FIRST: &str = "
select id, digest from webhook.outbox_event where tenant = $1 and idempotency_key = $2";
