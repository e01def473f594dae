use sqlx::SqliteConnection;
use webhook_actix::{Endpoint, HandlerError, Keys};
use webhook_github::GitHub;

async fn on_push(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {
    let _ = Endpoint::at("/webhooks", GitHub, Keys::env("KEYS")).on(on_push);
}
