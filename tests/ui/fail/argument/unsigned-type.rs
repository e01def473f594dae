use sqlx::SqliteConnection;
use webhook_actix::{EventType, HandlerError, webhook};
use webhook_github::GitHub;

#[webhook(provider = GitHub, event = "push")]
async fn on_push(_type: EventType, _db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
