use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_db: &mut SqliteConnection) -> Result<u16, HandlerError> {
    Ok(200)
}

fn main() {}
