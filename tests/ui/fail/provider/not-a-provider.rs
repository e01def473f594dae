use sqlx::SqliteConnection;
use webhook_actix::{Event, HandlerError, webhook};

struct Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_event: Event<String>, _db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = Stripe;
}
