use sqlx::SqliteConnection;
use webhook_actix::{EventId, HandlerError, webhook};
use webhook_github::GitHub;

#[webhook(provider = GitHub, event = "push")]
async fn on_push(_id: EventId, _db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
