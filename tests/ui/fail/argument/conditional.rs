use sqlx::SqliteConnection;
use webhook_actix::{EventId, HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(
    #[cfg(all())] _id: EventId,
    _db: &mut SqliteConnection,
) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
