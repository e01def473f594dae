use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async unsafe fn on_push(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
