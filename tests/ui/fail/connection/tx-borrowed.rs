use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, Tx, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_tx: &mut Tx<'_, SqliteConnection>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
