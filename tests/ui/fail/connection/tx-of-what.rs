use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, Tx, webhook};
use webhook_stripe::Stripe;

type Write<'t> = Tx<'t, SqliteConnection>;

mod lazy {
    pub type Tx<'t> = super::Write<'t>;
}

#[webhook(provider = Stripe, event = "push")]
async fn on_push(_tx: lazy::Tx<'_>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
