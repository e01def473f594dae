//! SQLite as a store under test, behind a ledger that breaks a rule.

use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::types::Uuid;
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};
use webhook_sqlx::SqliteLedger;
use webhook_testkit::ledger::{Act, Store};

use crate::broken::{Broken, Mutant};

/// A file of one case's own.
#[derive(Debug)]
pub(crate) struct Sqlite<M> {
    directory: PathBuf,
    mutant: PhantomData<fn() -> M>,
}

impl<M> Sqlite<M> {
    fn path(&self) -> Arc<str> {
        self.directory.join("app.db").to_str().unwrap().into()
    }
}

impl<M: Mutant> Store for Sqlite<M> {
    type Ledger = Broken<M>;

    async fn create() -> Self {
        let name = format!("webhook-mutant-{}", Uuid::now_v7().simple());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        let mutant = PhantomData;
        let store = Self { directory, mutant };
        execute(
            &store.path(),
            "create table effect (event text not null);
             create table latch (n integer not null);
             insert into latch values (0)",
        )
        .await;
        store
    }

    async fn destroy(&self) {
        // Connections that are still being closed may write once more.
        for _ in 0..20 {
            if std::fs::remove_dir_all(&self.directory).is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn open(&self) -> Broken<M> {
        let path = self.path();
        let ledger = SqliteLedger::open(&path).await.unwrap();
        Broken::new(ledger, path)
    }

    async fn shift(&self, millis: i64) {
        let tables = [
            ("claim", &["pruned_at"][..]),
            (
                "inbox",
                &[
                    "due_at",
                    "received_at",
                    "last_seen_at",
                    "settled_at",
                    "replayed_at",
                ],
            ),
            (
                "quarantine",
                &["first_seen_at", "last_seen_at", "released_at"],
            ),
            (
                "signing_key",
                &["first_seen_at", "last_live_at", "pruned_at"],
            ),
        ];
        let moved = tables.map(|(table, columns)| {
            let moved = columns.iter();
            let moved = moved.map(|column| format!("{column} = {column} - {millis}"));
            let moved = moved.collect::<Vec<_>>().join(", ");
            format!("update webhook_{table} set {moved};")
        });
        execute(&self.path(), format!("begin; {} commit", moved.concat())).await;
    }

    async fn keys(&self) -> u64 {
        count(&self.path(), "select count(*) from webhook_claim").await
    }

    async fn effects(&self) -> u64 {
        count(&self.path(), "select count(*) from effect").await
    }

    async fn act(
        conn: &mut SqliteConnection,
        act: Act,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let sql = match act {
            Act::Begin => "begin",
            Act::Commit => "commit",
            Act::Effect => "insert into effect values ('done')",
            Act::Lock => "update latch set n = n + 1",
            Act::Refused => "insert into effect values (null)",
            Act::Rollback => "rollback",
            Act::Slow => {
                "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000)
                 select count(*) from n"
            }
        };
        sqlx::raw_sql(sql).execute(conn).await?;
        Ok(())
    }
}

async fn connect(path: &str) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.create_if_missing(true).connect().await.unwrap()
}

/// Run SQL beside the ledger.
pub(crate) async fn execute(path: &str, sql: impl Display) {
    let mut conn = connect(path).await;
    let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_string()));
    sql.execute(&mut conn).await.unwrap();
}

/// Read rows beside the ledger.
pub(crate) async fn rows<R>(path: &str, sql: &str) -> Vec<R>
where
    R: for<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow> + Send + Unpin,
{
    let mut conn = connect(path).await;
    let rows = sqlx::query_as(AssertSqlSafe(sql.to_owned()));
    rows.fetch_all(&mut conn).await.unwrap()
}

async fn count(path: &str, sql: &str) -> u64 {
    let rows: Vec<(i64,)> = rows(path, sql).await;
    rows[0].0.try_into().unwrap()
}
