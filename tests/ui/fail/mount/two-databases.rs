use sqlx::{PgConnection, SqliteConnection};
use webhook_actix::{Endpoint, HandlerError, Keys, webhook};
use webhook_github::GitHub;

#[webhook(provider = GitHub, event = "push")]
async fn on_push(_db: &mut PgConnection) -> Result<(), HandlerError> {
    Ok(())
}

#[webhook(provider = GitHub, event = "create")]
async fn on_create(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = Endpoint::at("/webhooks", GitHub, Keys::env("KEYS"))
        .on(on_push)
        .on(on_create);
}
