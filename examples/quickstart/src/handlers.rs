//! One row an event, through the connection that also completes the event.

use std::time::Duration;

use serde::Deserialize;
use webhook_actix::{Event, EventId, EventType, HandlerError, Tx, Unsigned, webhook};
use webhook_github::GitHub;
use webhook_slack::Slack;
use webhook_stripe::Stripe;
use webhook_timestamped::Timestamped;

use crate::effects::Effects;

/// Money moved.
#[webhook(
    provider = Stripe,
    events("payment_intent.succeeded", "invoice.paid", "checkout.session.completed")
)]
pub(crate) async fn on_stripe<C: Effects>(
    id: EventId,
    kind: EventType,
    db: &mut C,
) -> Result<(), sqlx::Error> {
    db.record("stripe", id.as_str(), kind.as_str()).await
}

/// Something happened in a repository. GitHub signs neither id nor event name: the body is claimed
/// too, so that a captured one cannot run again under another id.
#[webhook(provider = GitHub, events("ping", "push", "pull_request", "issues"))]
pub(crate) async fn on_github<C: Effects>(
    id: Unsigned<EventId>,
    kind: Unsigned<EventType>,
    db: &mut C,
) -> Result<(), sqlx::Error> {
    let (id, kind) = (id.dangerous_trust(), kind.dangerous_trust());
    db.record("github", id.as_str(), kind.as_str()).await
}

/// Somebody said something.
#[webhook(provider = Slack, events("app_mention", "message"))]
pub(crate) async fn on_slack<C: Effects>(
    id: EventId,
    kind: EventType,
    db: &mut C,
) -> Result<(), sqlx::Error> {
    db.record("slack", id.as_str(), kind.as_str()).await
}

/// Stored first, acknowledged, then run by a worker.
#[webhook(provider = Timestamped, event = "note.created")]
pub(crate) async fn on_note<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record("custom", id.as_str(), "note.created").await
}

/// Claim, effect and completion in one transaction, before the answer.
#[webhook(provider = Timestamped, event = "credit.approved", inline)]
pub(crate) async fn on_credit<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record("custom", id.as_str(), "credit.approved").await
}

/// Sleeps before its effect: kill the process in the middle, start it again, and watch the event run.
///
/// The transaction begins after the sleep, so that nothing is locked meanwhile.
#[webhook(provider = Timestamped, event = "demo.slow")]
pub(crate) async fn on_demo_slow<C: Effects>(
    event: Event<DemoSlow>,
    id: EventId,
    mut tx: Tx<'_, C>,
) -> Result<(), HandlerError> {
    tokio::time::sleep(Duration::from_millis(event.data.sleep_ms)).await;
    let db = tx.begin().await?;
    db.record("custom", id.as_str(), "demo.slow").await?;
    Ok(())
}

/// The body of `demo.slow`.
#[derive(Deserialize)]
pub(crate) struct DemoSlow {
    data: Sleep,
}

#[derive(Deserialize)]
struct Sleep {
    sleep_ms: u64,
}
