use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

struct Shop;

impl Shop {
    #[webhook(provider = Stripe, event = "push")]
    async fn on_push(&self, _db: &mut SqliteConnection) -> Result<(), HandlerError> {
        Ok(())
    }
}

fn main() {
    let _ = (Shop, Shop::on_push, Stripe::live());
}
