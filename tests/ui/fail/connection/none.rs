use webhook_actix::{Event, HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_event: Event<String>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
