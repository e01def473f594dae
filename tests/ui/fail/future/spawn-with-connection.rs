use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(db: &mut SqliteConnection) -> Result<(), HandlerError> {
    tokio::spawn(async move {
        let _db = db;
    });
    Ok(())
}

fn main() {}
