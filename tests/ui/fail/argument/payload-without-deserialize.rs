use sqlx::SqliteConnection;
use webhook_actix::{Event, HandlerError, webhook};
use webhook_stripe::Stripe;

struct Push;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_event: Event<Push>, _db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = Push;
}
