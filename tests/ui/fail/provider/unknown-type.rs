use sqlx::SqliteConnection;
use webhook_actix::{HandlerError, webhook};

#[webhook(provider = GitLab, event = "push")]
async fn on_push(_db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
