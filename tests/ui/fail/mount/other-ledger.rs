use sqlx::PgConnection;
use webhook_actix::{Builder, Endpoint, HandlerError, Keys, webhook};
use webhook_github::GitHub;
use webhook_sqlx::SqliteLedger;

#[webhook(provider = GitHub, event = "push")]
async fn on_push(_db: &mut PgConnection) -> Result<(), HandlerError> {
    Ok(())
}

fn mount(builder: Builder<SqliteLedger>) -> Builder<SqliteLedger> {
    builder.endpoint(Endpoint::at("/webhooks", GitHub, Keys::env("KEYS")).on(on_push))
}

fn main() {
    let _ = mount;
}
