//! For every provider's endpoint on every ledger, whatever it lends.

use webhook_actix::{ConnectionUse, Event, Handler, HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, events("push", "pull"), at_least_once)]
async fn on_both(event: Event<String>) -> Result<(), HandlerError> {
    drop(event);
    Ok(())
}

fn mount<C: Send>() -> impl Handler<Stripe, C> {
    on_both
}

fn main() {
    let spec = mount::<u8>().spec();
    assert_eq!(spec.events, ["push", "pull"]);
    assert_eq!(spec.connection, ConnectionUse::None);
    mount::<sqlx::SqliteConnection>();
}
