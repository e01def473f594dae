use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

static KEPT: std::sync::Mutex<Option<&'static mut SqliteConnection>> = std::sync::Mutex::new(None);

#[webhook(provider = Stripe, event = "push")]
async fn on_push(db: &mut SqliteConnection) -> Result<(), HandlerError> {
    *KEPT.lock().unwrap() = Some(db);
    Ok(())
}

fn main() {}
