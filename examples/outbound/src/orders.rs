//! The shop's own table, and the one transaction that matters: an order is paid and its event is in
//! the outbox, or neither.

use serde::Deserialize;
use serde_json::json;
use sqlx::SqlitePool;
use webhook_actix::outbox::{EnqueueError, Event, InvalidEvent, Outbox as _};
use webhook_sqlx::SqliteOutbox;

/// A payment, as it comes in. The number is the client's: a retry bears the same.
#[derive(Debug, Deserialize)]
pub(crate) struct Payment {
    pub(crate) order: String,
    /// In minor units.
    pub(crate) amount: i64,
}

/// Why an order is not paid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PayError {
    #[error("the order was paid with another amount")]
    Conflict,
    #[error("the order's number is 1 to 255 bytes without control characters")]
    Number(#[from] InvalidEvent),
    #[error("the database is not there")]
    Store(#[from] sqlx::Error),
    #[error("the database is not there")]
    Outbox(#[source] EnqueueError),
}

/// Create the table.
pub(crate) async fn migrate(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    sqlx::query(
        "create table if not exists paid (number text primary key, amount integer not null)",
    )
    .execute(pool)
    .await
    .map(drop)
}

/// Pay an order, once, and tell its customer. The event's id; whether it had been paid before.
pub(crate) async fn pay(
    pool: &SqlitePool,
    outbox: &SqliteOutbox,
    payment: &Payment,
) -> Result<(String, bool), PayError> {
    let payload = json!({
        "type": "order.paid",
        "data": { "order": payment.order, "amount": payment.amount },
    });
    let event = Event::new(TENANT, "order.paid", payload.to_string())?
        .idempotency_key(&payment.order)?
        .order_key(&payment.order)?;
    let mut tx = pool.begin_with("begin immediate").await?;
    sqlx::query("insert into paid (number, amount) values (?1, ?2) on conflict do nothing")
        .bind(&payment.order)
        .bind(payment.amount)
        .execute(&mut *tx)
        .await?;
    let enqueued = match outbox.enqueue(&mut tx, event).await {
        Ok(enqueued) => enqueued,
        Err(EnqueueError::Conflict) => return Err(PayError::Conflict),
        Err(error) => return Err(PayError::Outbox(error)),
    };
    tx.commit().await?;
    Ok((enqueued.id().to_string(), enqueued.is_repeat()))
}

/// The only customer of this shop.
pub(crate) const TENANT: &str = "demo";
