use sqlx::SqliteConnection;
use webhook_actix::webhook;
use webhook_stripe::Stripe;

#[derive(Debug)]
struct Declined;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_db: &mut SqliteConnection) -> Result<(), Declined> {
    Err(Declined)
}

fn main() {}
