//! The application that sends: it changes its database and tells of it in the same transaction.

use std::time::Duration;

use serde_json::json;
use sqlx::{Connection as _, PgConnection, SqliteConnection};
use webhook_core::ledger::LedgerError;
use webhook_core::outbox::{Event, EventId, Outbox};
use webhook_dispatch::Dispatcher;
use webhook_sqlx::{PostgresOutbox, SqliteOutbox};

use super::{RECEIVED_AT, dispatcher, terminated};
use crate::stores::Effects;
use crate::torture::Dice;

/// The tenant whose endpoints are in all kinds of trouble.
pub const TROUBLED: &str = "troubled";

/// The tenant whose endpoint is ordered.
pub const ORDERED: &str = "ordered";

/// A store with the application's own tables beside the outbox: `effect`, what was changed, and `counter`.
pub(super) trait Sends: Outbox<Conn: Effects> {
    /// The application's `begin`.
    const BEGIN: &str;

    async fn open(url: &str) -> Result<Self, LedgerError>;
    async fn connect(url: &str) -> Result<Self::Conn, sqlx::Error>;
    async fn run(conn: &mut Self::Conn, sql: &'static str) -> Result<(), sqlx::Error>;
    /// Count one more for `key`. Whoever does holds it until the commit, so the numbers of a key are in the
    /// order of commits.
    async fn count(conn: &mut Self::Conn, key: &str) -> Result<i64, sqlx::Error>;
}

pub(super) async fn run<O: Sends>(url: &str, seed: u64) {
    let outbox = O::open(url).await.unwrap();
    let dispatcher = dispatcher(outbox.clone());
    dispatcher.start().await.unwrap();
    // It listens nowhere.
    println!("0.0.0.0:0");
    let enqueue = |task: u64| {
        let process = u64::from(std::process::id());
        let dice = Dice::new(seed ^ (task << 40) ^ process);
        let name = format!("{process}x{task}");
        enqueue(url, &outbox, &dispatcher, name, dice)
    };
    tokio::select! {
        () = terminated() => {}
        () = enqueue(0) => {}
        () = enqueue(1) => {}
    }
    dispatcher.shutdown().await;
    outbox.close().await;
}

/// Change after change. One that failed may have been committed: the database knows.
async fn enqueue<O: Sends>(
    url: &str,
    outbox: &O,
    dispatcher: &Dispatcher<O>,
    name: String,
    mut dice: Dice,
) {
    let mut nth = 0;
    loop {
        let Ok(mut conn) = O::connect(url).await else {
            pause(200).await;
            continue;
        };
        loop {
            nth += 1;
            let key = format!("{name}x{nth}");
            if change(&mut conn, outbox, &key, &mut dice).await.is_err() {
                break;
            }
            if dice.percent(50) {
                dispatcher.wake();
            }
            pause(40 + dice.below(80)).await;
        }
        pause(100).await;
    }
}

async fn change<O: Sends>(
    conn: &mut O::Conn,
    outbox: &O,
    key: &str,
    dice: &mut Dice,
) -> Result<(), Box<dyn std::error::Error>> {
    O::run(conn, O::BEGIN).await?;
    conn.record(key).await?;
    let event = match dice.below(100) {
        0..20 => {
            let order = format!("o{}", dice.below(4));
            let nth = O::count(conn, &order).await?;
            let data = json!({ "known_as": key, "order": order, "nth": nth });
            event(ORDERED, key, &data)?.order_key(&order)?
        }
        20..35 => event(TROUBLED, key, &json!({ "known_as": key }))?,
        // Some are told twice, under one key.
        drawn => {
            let tenant =
                RECEIVED_AT[usize::try_from(drawn).unwrap_or_default() % RECEIVED_AT.len()];
            let event = event(tenant, key, &json!({ "known_as": key }))?;
            if drawn > 80 {
                let event = event.idempotency_key(key)?;
                outbox.enqueue(conn, event.clone()).await?;
                event.with_id(EventId::generate())
            } else {
                event
            }
        }
    };
    outbox.enqueue(conn, event).await?;
    if dice.percent(30) {
        pause(dice.below(40)).await;
    }
    O::run(
        conn,
        if dice.percent(15) {
            "rollback"
        } else {
            "commit"
        },
    )
    .await?;
    Ok(())
}

/// An event that bears the key of its change as its id.
fn event(
    tenant: &str,
    key: &str,
    data: &serde_json::Value,
) -> Result<Event, Box<dyn std::error::Error>> {
    let payload = json!({ "type": "note.created", "data": data });
    let event = Event::new(tenant, "note.created", payload.to_string())?;
    Ok(event.with_id(EventId::new(key)?))
}

async fn pause(millis: u64) {
    actix_web::rt::time::sleep(Duration::from_millis(millis)).await;
}

impl Sends for PostgresOutbox {
    const BEGIN: &str = "begin";

    async fn open(url: &str) -> Result<Self, LedgerError> {
        Self::connect(url).await
    }

    async fn connect(url: &str) -> Result<PgConnection, sqlx::Error> {
        PgConnection::connect(url).await
    }

    async fn run(conn: &mut PgConnection, sql: &'static str) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(sql).execute(conn).await.map(drop)
    }

    async fn count(conn: &mut PgConnection, key: &str) -> Result<i64, sqlx::Error> {
        let count =
            sqlx::query_scalar("update counter set nth = nth + 1 where key = $1 returning nth");
        count.bind(key).fetch_one(conn).await
    }
}

impl Sends for SqliteOutbox {
    const BEGIN: &str = "begin immediate";

    async fn open(url: &str) -> Result<Self, LedgerError> {
        Self::open(url).await
    }

    async fn connect(url: &str) -> Result<SqliteConnection, sqlx::Error> {
        SqliteConnection::connect(url).await
    }

    async fn run(conn: &mut SqliteConnection, sql: &'static str) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(sql).execute(conn).await.map(drop)
    }

    async fn count(conn: &mut SqliteConnection, key: &str) -> Result<i64, sqlx::Error> {
        let count =
            sqlx::query_scalar("update counter set nth = nth + 1 where key = ?1 returning nth");
        count.bind(key).fetch_one(conn).await
    }
}
