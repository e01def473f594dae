use webhook_actix::{Builder, Endpoint, HandlerError, Keys, webhook};
use webhook_github::GitHub;
use webhook_sqlx::SqliteLedger;

trait Effects {}

#[webhook(provider = GitHub, event = "push")]
async fn on_push<C: Effects>(_db: &mut C) -> Result<(), HandlerError> {
    Ok(())
}

fn mount(builder: Builder<SqliteLedger>) -> Builder<SqliteLedger> {
    builder.endpoint(Endpoint::at("/webhooks", GitHub, Keys::env("KEYS")).on(on_push))
}

fn main() {
    let _ = mount;
}
