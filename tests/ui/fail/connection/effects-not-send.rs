use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

trait Effects {
    async fn record(&mut self) -> Result<(), HandlerError>;
}

#[webhook(provider = Stripe, event = "push")]
async fn on_push<C: Effects>(db: &mut C) -> Result<(), HandlerError> {
    db.record().await
}

fn main() {}
