use serde::Deserialize;
use webhook_actix::{Event, HandlerError, Valid, webhook};
use webhook_stripe::Stripe;

#[derive(Deserialize)]
struct Invoice;

#[webhook(provider = Stripe, event = "invoice.paid", at_least_once)]
async fn on_paid(_event: Event<Valid<Invoice>>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
