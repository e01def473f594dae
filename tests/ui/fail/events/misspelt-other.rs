use serde::Deserialize;
use webhook_actix::{Event, Events, HandlerError, webhook};
use webhook_stripe::Stripe;

#[derive(Deserialize)]
struct Invoice;

#[allow(dead_code)]
#[derive(Events)]
enum Billing {
    #[event(others)]
    Paid(Invoice),
}

#[webhook(provider = Stripe, at_least_once)]
async fn on_billing(_event: Event<Billing>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
