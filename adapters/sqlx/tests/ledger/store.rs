//! The stores under test, and what only a store in SQL lets a test do beside its ledger.

use std::error::Error;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::types::Uuid;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqliteConnection};
use webhook_core::ledger::Lease;
use webhook_sqlx::{PostgresLedger, SqliteLedger};
use webhook_testkit::ledger::{Act, Conn, Store};

/// A store in SQL, whose schema is known.
pub(crate) trait Sql: Store {
    /// What a check names that tells how durable the store is.
    const DURABILITY: &[&str];
    /// Whether the heads of order keys have rows of their own.
    const HAS_HEADS: bool;
    /// The schema as the first library made it.
    const VERSION_1: &str;

    /// Run SQL beside the ledger, written for PostgreSQL's names. Rows affected.
    fn execute(&self, sql: &str) -> impl Future<Output = u64> + Send;
    /// Read one number beside the ledger.
    fn number(&self, sql: &str) -> impl Future<Output = i64> + Send;
    /// Run SQL on a handler's connection.
    fn run(
        conn: &mut Conn<Self>,
        sql: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Run SQL in a nested transaction of a handler's.
    fn nest(
        conn: &mut Conn<Self>,
        sql: &str,
        end: End,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Bytes as a literal.
    fn bytes(bytes: &[u8]) -> String;
    /// A row's id as a literal.
    fn id(bytes: &[u8]) -> String;
    /// A moment this far from now, as an expression.
    fn moment(millis: i64) -> String;
    /// So many bytes, as an expression.
    fn zeros(count: usize) -> String;
}

/// How a handler's nested transaction ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    Commit,
    Drop,
    Leak,
    Rollback,
}

#[derive(Debug)]
pub(crate) struct Postgres {
    pub(crate) url: String,
    pub(crate) name: String,
}

#[derive(Debug)]
pub(crate) struct Sqlite {
    pub(crate) directory: PathBuf,
}

impl Postgres {
    pub(crate) async fn admin() -> PgConnection {
        PgConnection::connect(&server()).await.unwrap()
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }
}

impl Store for Postgres {
    type Ledger = PostgresLedger;

    async fn create() -> Self {
        let name = format!("webhook_test_{}", Uuid::now_v7().simple());
        let mut admin = Self::admin().await;
        run_postgres(&mut admin, &format!("create database {name}"))
            .await
            .unwrap();
        let options = PgConnectOptions::from_str(&server()).unwrap();
        let url = options.database(&name).to_url_lossy().to_string();
        let store = Self { url, name };
        store.execute(APPLICATION).await;
        store
    }

    async fn destroy(&self) {
        let mut admin = Self::admin().await;
        let drop = format!("drop database {} with (force)", self.name);
        let _ = run_postgres(&mut admin, &drop).await;
    }

    async fn open(&self) -> PostgresLedger {
        PostgresLedger::connect(&self.url).await.unwrap()
    }

    async fn shift(&self, millis: i64) {
        let back = format!("- {millis} * interval '1 millisecond'");
        let moved = MOMENTS.map(|(table, columns)| {
            let moved = columns
                .split(' ')
                .map(|column| format!("{column} = {column} {back}"));
            let moved = moved.collect::<Vec<_>>().join(", ");
            format!("update webhook.{table} set {moved};")
        });
        let heads = format!("update webhook.order_head set last_at = last_at {back};");
        self.execute(&format!("begin; {} {heads} commit", moved.concat()))
            .await;
    }

    async fn keys(&self) -> u64 {
        let keys = self.number("select count(*) from webhook.claim").await;
        keys.try_into().unwrap()
    }

    async fn effects(&self) -> u64 {
        let effects = self.number("select count(*) from effect").await;
        effects.try_into().unwrap()
    }

    async fn act(conn: &mut PgConnection, act: Act) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(<Self as Sql>::run(conn, sql(act)).await?)
    }
}

impl Sql for Postgres {
    const DURABILITY: &[&str] = &[
        "fsync",
        "full_page_writes",
        "in_hot_standby",
        "synchronous_commit",
    ];
    const HAS_HEADS: bool = true;
    const VERSION_1: &str = include_str!("../../migrations/postgres/0001.sql");

    async fn execute(&self, sql: &str) -> u64 {
        let mut conn = self.connect().await;
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn);
        done.await.unwrap().rows_affected()
    }

    async fn number(&self, sql: &str) -> i64 {
        let mut conn = self.connect().await;
        let number = sqlx::query_scalar(AssertSqlSafe(format!("select ({sql})::bigint")));
        number.fetch_one(&mut conn).await.unwrap()
    }

    async fn run(conn: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
        run_postgres(conn, sql).await
    }

    async fn nest(conn: &mut PgConnection, sql: &str, end: End) -> Result<(), sqlx::Error> {
        let mut tx = conn.begin().await?;
        run_postgres(&mut tx, sql).await?;
        match end {
            End::Commit => tx.commit().await?,
            End::Drop => drop(tx),
            End::Leak => std::mem::forget(tx),
            End::Rollback => tx.rollback().await?,
        }
        Ok(())
    }

    fn bytes(bytes: &[u8]) -> String {
        format!("'\\x{}'::bytea", hex(bytes))
    }

    fn id(bytes: &[u8]) -> String {
        format!("'{}'::uuid", hex(bytes))
    }

    fn moment(millis: i64) -> String {
        format!("clock_timestamp() + {millis} * interval '1 millisecond'")
    }

    fn zeros(count: usize) -> String {
        format!("convert_to(repeat('0', {count}), 'UTF8')")
    }
}

impl Sqlite {
    pub(crate) fn path(&self) -> String {
        self.directory.join("app.db").to_str().unwrap().to_owned()
    }

    pub(crate) async fn connect(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new()
            .filename(self.path())
            .create_if_missing(true);
        options.connect().await.unwrap()
    }
}

impl Store for Sqlite {
    type Ledger = SqliteLedger;

    async fn create() -> Self {
        let name = format!("webhook-test-{}", Uuid::now_v7().simple());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        let store = Self { directory };
        store.execute(APPLICATION).await;
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

    async fn open(&self) -> SqliteLedger {
        SqliteLedger::open(&self.path()).await.unwrap()
    }

    async fn shift(&self, millis: i64) {
        let back = format!("- {millis}");
        let moved = MOMENTS.map(|(table, columns)| {
            let moved = columns
                .split(' ')
                .map(|column| format!("{column} = {column} {back}"));
            let moved = moved.collect::<Vec<_>>().join(", ");
            format!("update webhook.{table} set {moved};")
        });
        let heads = "";
        self.execute(&format!("begin; {} {heads} commit", moved.concat()))
            .await;
    }

    async fn keys(&self) -> u64 {
        let keys = self.number("select count(*) from webhook.claim").await;
        keys.try_into().unwrap()
    }

    async fn effects(&self) -> u64 {
        let effects = self.number("select count(*) from effect").await;
        effects.try_into().unwrap()
    }

    async fn act(
        conn: &mut SqliteConnection,
        act: Act,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(<Self as Sql>::run(conn, sql(act)).await?)
    }
}

impl Sql for Sqlite {
    const DURABILITY: &[&str] = &["file", "journal_mode", "synchronous", "writable"];
    const HAS_HEADS: bool = false;
    const VERSION_1: &str = include_str!("../../migrations/sqlite/0001.sql");

    async fn execute(&self, sql: &str) -> u64 {
        let mut conn = self.connect().await;
        let sql = sql.replace("webhook.", "webhook_");
        let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await;
        done.unwrap().rows_affected()
    }

    async fn number(&self, sql: &str) -> i64 {
        let mut conn = self.connect().await;
        let sql = format!("select ({})", sql.replace("webhook.", "webhook_"));
        let number = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut conn);
        number.await.unwrap()
    }

    async fn run(conn: &mut SqliteConnection, sql: &str) -> Result<(), sqlx::Error> {
        run_sqlite(conn, sql).await
    }

    async fn nest(conn: &mut SqliteConnection, sql: &str, end: End) -> Result<(), sqlx::Error> {
        let mut tx = conn.begin().await?;
        run_sqlite(&mut tx, sql).await?;
        match end {
            End::Commit => tx.commit().await?,
            End::Drop => drop(tx),
            End::Leak => std::mem::forget(tx),
            End::Rollback => tx.rollback().await?,
        }
        Ok(())
    }

    fn bytes(bytes: &[u8]) -> String {
        format!("x'{}'", hex(bytes))
    }

    fn id(bytes: &[u8]) -> String {
        Self::bytes(bytes)
    }

    fn moment(millis: i64) -> String {
        format!("(cast(unixepoch('subsec') * 1000 as integer) + {millis})")
    }

    fn zeros(count: usize) -> String {
        format!("zeroblob({count})")
    }
}

/// Put the end of a lease, or the time of the next attempt, this far from now.
pub(crate) async fn set_due<S: Sql>(store: &S, lease: Lease, millis: i64) {
    let (moment, id) = (S::moment(millis), S::id(lease.inbox().as_bytes()));
    let sql = format!("update webhook.inbox set due_at = {moment} where id = {id}");
    assert_eq!(store.execute(&sql).await, 1);
}

/// What an act is, in both dialects.
fn sql(act: Act) -> &'static str {
    match act {
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
    }
}

/// The application's own tables.
const APPLICATION: &str = "create table effect (event text not null);
    create table latch (n integer not null);
    insert into latch values (0)";

/// Every moment that a ledger writes down, by table; PostgreSQL has one more.
const MOMENTS: [(&str, &str); 4] = [
    ("claim", "pruned_at"),
    (
        "inbox",
        "due_at received_at last_seen_at settled_at replayed_at",
    ),
    ("quarantine", "first_seen_at last_seen_at released_at"),
    ("signing_key", "first_seen_at last_live_at pruned_at"),
];

async fn run_postgres(conn: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
    sql.execute(conn).await.map(drop)
}

async fn run_sqlite(conn: &mut SqliteConnection, sql: &str) -> Result<(), sqlx::Error> {
    let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
    sql.execute(conn).await.map(drop)
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// Never skipped: a store that was not tested must not look tested.
fn server() -> String {
    std::env::var("TEST_DATABASE_URL")
        .ok()
        .filter(|url| !url.is_empty())
        .expect("TEST_DATABASE_URL is not set: run `cargo xtask test`, which starts PostgreSQL")
}
