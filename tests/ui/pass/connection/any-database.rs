//! One handler for any database: the only generic parameter is the connection.

use std::fmt::Debug;

use sqlx::{PgConnection, SqliteConnection};
use webhook_actix::{EventId, Handler, HandlerError, Tx, webhook};
use webhook_stripe::Stripe;

trait Effects: Send {
    fn record(&mut self, id: &str) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

impl Effects for SqliteConnection {
    async fn record(&mut self, id: &str) -> Result<(), sqlx::Error> {
        let query = sqlx::query("insert into seen values (?)").bind(id);
        query.execute(self).await.map(drop)
    }
}

impl Effects for PgConnection {
    async fn record(&mut self, id: &str) -> Result<(), sqlx::Error> {
        let query = sqlx::query("insert into seen values ($1)").bind(id);
        query.execute(self).await.map(drop)
    }
}

#[webhook(provider = Stripe, event = "push")]
async fn eager<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(id.as_str()).await
}

#[webhook(provider = Stripe, event = "push", inline)]
async fn lazy<C>(mut tx: Tx<'_, C>, id: EventId) -> Result<(), HandlerError>
where
    C: Effects + Debug,
{
    tx.begin().await?.record(id.as_str()).await?;
    Ok(())
}

fn mount<C: Effects + Debug + 'static>() -> [Box<dyn Handler<Stripe, C>>; 2] {
    [Box::new(eager), Box::new(lazy)]
}

fn main() {
    mount::<SqliteConnection>();
    mount::<PgConnection>();
}
