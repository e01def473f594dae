use sqlx::{PgConnection, SqliteConnection};
use webhook_actix::{ConnectionUse, EventId, Handler, HandlerError, Mode, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
async fn on_sqlite(id: EventId, db: &mut SqliteConnection) -> Result<(), HandlerError> {
    audit(db, &id).await?;
    audit(&mut *db, &id).await?;
    Ok(())
}

#[webhook(provider = Stripe, event = "push", inline)]
async fn on_postgres(db: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query("select 1").execute(db).await?;
    Ok(())
}

async fn audit(db: &mut SqliteConnection, id: &EventId) -> Result<(), sqlx::Error> {
    let query = sqlx::query("insert into audit values (?)").bind(id.as_str());
    query.execute(db).await.map(drop)
}

fn main() {
    let sqlite: &dyn Handler<Stripe, SqliteConnection> = &on_sqlite;
    assert_eq!(sqlite.spec().name, "on_sqlite");
    assert_eq!(sqlite.spec().events, ["push"]);
    assert_eq!(sqlite.spec().mode, Mode::Inbox);
    assert_eq!(sqlite.spec().connection, ConnectionUse::Eager);
    let postgres: &dyn Handler<Stripe, PgConnection> = &on_postgres;
    assert_eq!(postgres.spec().mode, Mode::Inline);
}
