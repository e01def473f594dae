use sqlx::SqliteConnection;
use webhook_actix::webhook;
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_db: &mut SqliteConnection) -> bool {
    true
}

fn main() {}
