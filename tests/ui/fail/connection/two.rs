use sqlx::{PgConnection, SqliteConnection};
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(
    _db: &mut SqliteConnection,
    _other: &mut PgConnection,
) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
