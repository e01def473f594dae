use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_github::GitHub;
use webhook_stripe::Stripe;

#[webhook(provider = GitHub, event = "push")]
#[webhook(provider = Stripe, event = "push")]
async fn on_push(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = Stripe::live();
}
