//! Any pattern that cannot fail, as in any function.

use sqlx::SqliteConnection;
use webhook_actix::{Claimed, Event, EventId, FromClaimed, Handler, HandlerError, webhook};
use webhook_stripe::Stripe;

struct Pair(u8, u8);

impl FromClaimed<Stripe> for Pair {
    fn from_claimed(_claimed: &Claimed) -> Result<Self, HandlerError> {
        Ok(Self(1, 2))
    }
}

#[webhook(provider = Stripe, event = "push")]
async fn on_push(
    Pair(left, mut right): Pair,
    _: EventId,
    mut event: Event<Vec<u8>>,
    r#type: EventId,
    db: &mut SqliteConnection,
) -> Result<(), HandlerError> {
    right += left;
    let _ = (right, r#type, db);
    event = event.clone();
    drop(event);
    Ok(())
}

fn mount<H: Handler<Stripe, SqliteConnection>>(_handler: H) {}

fn main() {
    mount(on_push);
}
