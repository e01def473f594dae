use serde::Deserialize;
use sqlx::SqliteConnection;
use webhook_actix::{
    Data, Delivery, EffectKey, Event, EventId, EventType, Handler, HandlerError, RawEvent,
    Unsigned, webhook,
};
use webhook_github::GitHub;
use webhook_stripe::Stripe;

#[derive(Deserialize)]
struct Push {
    branch: String,
}

struct Mailer;

#[webhook(provider = Stripe, event = "push")]
async fn signed(
    mail: Data<Mailer>,
    id: EventId,
    db: &mut SqliteConnection,
    event_type: EventType,
    event: Event<Push>,
    raw: RawEvent,
    key: EffectKey,
    delivery: Delivery,
) -> Result<(), HandlerError> {
    let _: &Mailer = &mail;
    let _: &mut SqliteConnection = db;
    let _ = (id.as_str(), event_type.as_str(), key.as_str());
    let _ = (&event.branch, raw.len(), delivery.attempt());
    Ok(())
}

#[webhook(provider = GitHub, event = "push")]
async fn unsigned(
    id: Unsigned<EventId>,
    event_type: Unsigned<EventType>,
    db: &mut SqliteConnection,
) -> Result<(), HandlerError> {
    let _ = (id.dangerous_trust(), event_type.dangerous_trust(), db);
    Ok(())
}

fn mount<P: webhook_actix::Provider, H: Handler<P, SqliteConnection>>(_provider: P, _handler: H) {}

fn main() {
    mount(Stripe::live(), signed);
    mount(GitHub, unsigned);
}
