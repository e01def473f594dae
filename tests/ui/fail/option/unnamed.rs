use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(Stripe, event = "push")]
async fn on_push(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = Stripe::live();
}
