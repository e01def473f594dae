use std::rc::Rc;

use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    let count = Rc::new(1);
    std::future::ready(()).await;
    drop(count);
    Ok(())
}

fn main() {}
