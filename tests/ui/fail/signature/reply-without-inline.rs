use webhook_actix::{EventId, HandlerError, Reply, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "invoice.paid", at_least_once)]
async fn on_paid(_id: EventId) -> Result<Reply, HandlerError> {
    Ok(Reply::json("{}"))
}

fn main() {}
