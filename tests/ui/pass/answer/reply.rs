use sqlx::SqliteConnection;
use webhook_actix::{Event, Handler, Mode, Reply, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "command", inline, at_least_once)]
async fn on_command(event: Event<String>) -> Result<Reply, std::fmt::Error> {
    Ok(Reply::json(event.into_inner()))
}

#[webhook(provider = Stripe, event = "command", inline)]
async fn on_counted(db: &mut SqliteConnection) -> Result<Reply, sqlx::Error> {
    let count: i64 = sqlx::query_scalar("select count(*) from seen")
        .fetch_one(db)
        .await?;
    Ok(Reply::new("text/plain", count.to_string()))
}

fn main() {
    for handler in [
        &on_command as &dyn Handler<Stripe, SqliteConnection>,
        &on_counted,
    ] {
        assert_eq!(handler.spec().mode, Mode::Inline);
    }
}
