use serde::Deserialize;
use webhook_actix::{Event, HandlerError, webhook};
use webhook_stripe::Stripe;

#[derive(Deserialize)]
struct Invoice;

#[webhook(provider = Stripe, at_least_once)]
async fn on_paid(_event: Event<Invoice>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
