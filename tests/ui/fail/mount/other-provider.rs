use sqlx::SqliteConnection;
use webhook_actix::{Endpoint, HandlerError, Keys, webhook};
use webhook_github::GitHub;
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = Endpoint::at("/webhooks", GitHub, Keys::env("KEYS")).on(on_push);
}
