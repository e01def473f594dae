use sqlx::PgConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(db: &mut PgConnection) -> Result<(), HandlerError> {
    db.commit().await?;
    Ok(())
}

fn main() {}
