use webhook_actix::{Event, Events, HandlerError, webhook};
use webhook_stripe::Stripe;

#[allow(dead_code)]
#[derive(Events)]
enum Billing {}

#[webhook(provider = Stripe, at_least_once)]
async fn on_billing(_event: Event<Billing>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
