use serde::de::DeserializeOwned;
use sqlx::SqliteConnection;
use webhook_actix::{Event, HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push<T: DeserializeOwned>(
    _event: Event<T>,
    _db: &mut SqliteConnection,
) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
