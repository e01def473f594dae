//! The stores under test, and what a test does beside the ledger.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::types::Uuid;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqliteConnection};
use webhook_core::ledger::{
    Committed, Completion, Inline, Lease, Leased, Ledger, LedgerError, LedgerTx, Registration,
    Take, TxLimits,
};
use webhook_core::{Claim, NewEvent};
use webhook_sqlx::{PostgresLedger, SqliteLedger};

use crate::post::{ENDPOINT, TYPE};

/// A database of one test's own.
pub(crate) trait Store: Send + Sync + Sized + 'static {
    type Conn: Send + 'static;
    type L: Ledger<Conn = Self::Conn>;

    fn create() -> impl Future<Output = Self> + Send;
    fn destroy(&self) -> impl Future<Output = ()> + Send;
    /// One more ledger on this database, as one more process would have.
    fn open(&self) -> impl Future<Output = Self::L> + Send;
    /// Run SQL beside the ledger, written for PostgreSQL's names. Rows affected.
    fn execute(&self, sql: &str) -> impl Future<Output = u64> + Send;
    /// Read one number beside the ledger.
    fn number(&self, sql: &str) -> impl Future<Output = i64> + Send;
    /// Run SQL on a handler's connection.
    fn run(
        conn: &mut Self::Conn,
        sql: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Run SQL in a nested transaction of a handler's.
    fn nest(
        conn: &mut Self::Conn,
        sql: &str,
        end: End,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Bytes as a literal.
    fn bytes(bytes: &[u8]) -> String;
    /// A row's id as a literal.
    fn id(bytes: &[u8]) -> String;
    /// A moment this far from now, as an expression.
    fn moment(millis: i64) -> String;
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
    type Conn = PgConnection;
    type L = PostgresLedger;

    async fn create() -> Self {
        let name = format!("webhook_test_{}", Uuid::now_v7().simple());
        let mut admin = Self::admin().await;
        run_postgres(&mut admin, &format!("create database {name}"))
            .await
            .unwrap();
        let options = PgConnectOptions::from_str(&server()).unwrap();
        let url = options.database(&name).to_url_lossy().to_string();
        Self { url, name }
    }

    async fn destroy(&self) {
        let mut admin = Self::admin().await;
        let drop = format!("drop database {} with (force)", self.name);
        let _ = run_postgres(&mut admin, &drop).await;
    }

    async fn open(&self) -> PostgresLedger {
        PostgresLedger::connect(&self.url).await.unwrap()
    }

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
    type Conn = SqliteConnection;
    type L = SqliteLedger;

    async fn create() -> Self {
        let name = format!("webhook-test-{}", Uuid::now_v7().simple());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        Self { directory }
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
}

/// Run one case on a database of its own.
pub(crate) fn run<S: Store, F: Future<Output = ()>>(case: impl FnOnce(Arc<S>) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let store = Arc::new(runtime.block_on(S::create()));
    runtime.block_on(store.execute("create table effect (event text not null)"));
    let end = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(case(store.clone()));
    }));
    runtime.block_on(store.destroy());
    end.unwrap_or_else(|panic| resume_unwind(panic));
}

/// A ledger ready for events.
pub(crate) async fn prepared<S: Store>(store: &S) -> S::L {
    let ledger = store.open().await;
    ledger.prepare(Registration::default()).await.unwrap();
    ledger
}

pub(crate) async fn claim<L: Ledger>(ledger: &L, event: NewEvent) -> Claim {
    ledger.claim(vec![event]).await.unwrap().remove(0)
}

pub(crate) fn want() -> Take {
    Take::new(ENDPOINT, vec![TYPE.to_owned()], Duration::from_secs(30))
        .at_most(10)
        .max_crashes(3)
}

/// Lease the only event that is due.
pub(crate) async fn take<L: Ledger>(ledger: &L) -> Leased {
    let mut events = ledger.take(want()).await.unwrap().events;
    assert_eq!(events.len(), 1);
    events.remove(0)
}

/// Claim one event and lease it.
pub(crate) async fn leased<L: Ledger>(ledger: &L, event: NewEvent) -> Lease {
    assert_eq!(claim(ledger, event).await, Claim::Stored);
    take(ledger).await.lease
}

pub(crate) fn limits() -> TxLimits {
    TxLimits::new(Duration::from_secs(5), Duration::from_secs(30)).lock(Duration::from_secs(2))
}

/// Open a transaction and have an effect in it.
pub(crate) async fn begun<S: Store>(ledger: &S::L, lease: Lease) -> <S::L as Ledger>::Tx {
    let mut tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    S::run(tx.conn(), "insert into effect values ('done')")
        .await
        .unwrap();
    tx
}

pub(crate) async fn complete<T: LedgerTx>(tx: T) -> Result<Committed, LedgerError> {
    tx.complete(Completion::default()).await
}

/// The transaction of an inline claim that must be won.
pub(crate) fn granted<T>(inline: Inline<T>) -> (T, Leased) {
    match inline {
        Inline::Granted(tx, leased) => (tx, *leased),
        Inline::Settled(claim) => panic!("settled: {claim:?}"),
        _ => panic!(),
    }
}

/// The claim of an inline claim that must be lost.
pub(crate) fn settled<T>(inline: Inline<T>) -> Claim {
    match inline {
        Inline::Settled(claim) => claim,
        _ => panic!("granted"),
    }
}

pub(crate) async fn effects<S: Store>(store: &S) -> i64 {
    store.number("select count(*) from effect").await
}

/// Put the end of a lease, or the time of the next attempt, this far from now.
pub(crate) async fn set_due<S: Store>(store: &S, lease: Lease, millis: i64) {
    let (moment, id) = (S::moment(millis), S::id(lease.inbox().as_bytes()));
    let sql = format!("update webhook.inbox set due_at = {moment} where id = {id}");
    assert_eq!(store.execute(&sql).await, 1);
}

pub(crate) async fn in_state<S: Store>(store: &S, state: &str) -> i64 {
    let sql = format!("select count(*) from webhook.inbox where state = '{state}'");
    store.number(&sql).await
}

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
