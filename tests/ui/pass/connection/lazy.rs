use sqlx::SqliteConnection;
use webhook_actix::{ConnectionUse, Handler, HandlerError, Tx, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_push(mut tx: Tx<'_, SqliteConnection>) -> Result<(), HandlerError> {
    std::future::ready(()).await; // slow work, with no transaction open
    let db = tx.begin().await?;
    sqlx::query("select 1").execute(db).await?;
    Ok(())
}

#[webhook(provider = Stripe, event = "pull")]
async fn on_pull(tx: webhook_actix::Tx<'_, SqliteConnection>) -> Result<(), HandlerError> {
    drop(tx);
    Ok(())
}

fn main() {
    for handler in [&on_push as &dyn Handler<Stripe, SqliteConnection>, &on_pull] {
        assert_eq!(handler.spec().connection, ConnectionUse::Lazy);
    }
}
