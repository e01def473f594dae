use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

trait Effects: Send {}

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_db: &mut impl Effects) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
