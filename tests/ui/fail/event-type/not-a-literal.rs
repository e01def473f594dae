use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

const PUSH: &str = "push";

#[webhook(provider = Stripe, event = PUSH)]
async fn on_push(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = PUSH;
}
