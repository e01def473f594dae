//! Databases of a benchmark's own, on a server with the machine's disk and on one with a slow disk.

use std::cell::OnceCell;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};
use tokio::runtime::{Builder, Runtime};
use webhook_actix::ledger::{Ledger as _, Registration};
use webhook_benches::quantile;
use webhook_sqlx::PostgresLedger;

use crate::by_hand::{self, ByHand};

/// Where a server keeps its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disk {
    /// The machine's own.
    Usual,
    /// One that takes a millisecond longer for each flush.
    Slow,
}

/// A database, dropped at the end.
#[derive(Debug)]
pub(crate) struct Database {
    runtime: Arc<Runtime>,
    server: String,
    name: String,
    url: String,
}

/// What a server has done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Activity {
    /// Transactions that wrote and committed.
    pub(crate) commits: f64,
    /// Bytes of its write-ahead log.
    pub(crate) log_bytes: f64,
}

/// One database a disk, made when it is first wanted.
#[derive(Debug)]
pub(crate) struct Databases {
    runtime: Arc<Runtime>,
    usual: OnceCell<Result<Database, String>>,
    slow: OnceCell<Result<Database, String>>,
}

impl Databases {
    pub(crate) fn new() -> Self {
        // Two threads call the ledger, or its peer's pool, as two of a server's would.
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        Self {
            runtime: Arc::new(runtime.expect("threads")),
            usual: OnceCell::new(),
            slow: OnceCell::new(),
        }
    }

    /// What calls are made from.
    pub(crate) fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// The database on this disk, or why there is none.
    pub(crate) fn on(&self, disk: Disk) -> Result<&Database, String> {
        let place = match disk {
            Disk::Usual => &self.usual,
            Disk::Slow => &self.slow,
        };
        let database = place.get_or_init(|| self.create(disk));
        database.as_ref().map_err(Clone::clone)
    }

    /// One more database on this disk.
    pub(crate) fn create(&self, disk: Disk) -> Result<Database, String> {
        let (variable, what) = match disk {
            Disk::Usual => ("TEST_DATABASE_URL", "no PostgreSQL"),
            Disk::Slow => (
                "SLOW_DATABASE_URL",
                "no slow disk: no C compiler, or not on Linux",
            ),
        };
        let server = std::env::var(variable).map_err(|_| what.to_owned())?;
        let database = Database::create(self.runtime.clone(), server);
        if disk == Disk::Slow && database.flush_secs() < 0.001 {
            return Err("no slow disk: its preloaded library has no effect".to_owned());
        }
        Ok(database)
    }
}

impl Database {
    fn create(runtime: Arc<Runtime>, server: String) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("webhook_bench_{}_{count}", std::process::id());
        let options = PgConnectOptions::from_str(&server).expect("a URL");
        let url = options.database(&name).to_url_lossy().to_string();
        let database = Self {
            runtime,
            server,
            name,
            url,
        };
        database.at_server(&format!("create database {}", database.name));
        database.runtime.block_on(async {
            let ledger = database.open().await;
            ledger.close().await;
        });
        database.execute(by_hand::SCHEMA);
        database
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A ledger on it, ready for events.
    pub(crate) async fn open(&self) -> PostgresLedger {
        let ledger = PostgresLedger::connect(&self.url).await;
        let ledger = ledger.expect("a ledger");
        let prepared = ledger.prepare(Registration::default()).await;
        prepared.expect("a schema");
        ledger
    }

    /// An inbox by hand on it, called from the same threads.
    pub(crate) fn by_hand(&self, connections: u32) -> ByHand {
        let _on_the_runtime = self.runtime.enter();
        ByHand::new(&self.url, connections)
    }

    /// Forget all events, and begin as after a checkpoint.
    pub(crate) fn empty(&self) {
        self.execute("truncate webhook.claim, webhook.inbox, by_hand; checkpoint");
    }

    /// Begin as after a checkpoint: each page that is touched is written to the log once more.
    pub(crate) fn checkpoint(&self) {
        self.execute("checkpoint");
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.runtime.block_on(run(&self.url, sql));
    }

    /// What its server has done so far.
    pub(crate) fn activity(&self) -> Activity {
        self.runtime.block_on(async {
            let mut conn = PgConnection::connect(&self.url).await;
            let conn = conn.as_mut().expect("a connection");
            let (commits, log_bytes) = sqlx::query_as(ACTIVITY).fetch_one(conn).await.expect("SQL");
            Activity { commits, log_bytes }
        })
    }

    fn at_server(&self, sql: &str) {
        self.runtime.block_on(run(&self.server, sql));
    }

    /// Seconds that a small commit takes.
    fn flush_secs(&self) -> f64 {
        self.execute("create table flushed (number integer)");
        self.runtime.block_on(async {
            let mut conn = PgConnection::connect(&self.url)
                .await
                .expect("a connection");
            let mut took = Vec::new();
            for _ in 0..20 {
                let began = Instant::now();
                let insert = sqlx::query("insert into flushed values (1)");
                insert.execute(&mut conn).await.expect("an insert");
                took.push(began.elapsed().as_secs_f64());
            }
            quantile(took.into_iter(), 0.5)
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.at_server(&format!(
            "drop database if exists {} with (force)",
            self.name
        ));
    }
}

async fn run(url: &str, sql: &str) {
    let mut conn = PgConnection::connect(url).await.expect("a connection");
    // Ours, with names of ours.
    let statements = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
    statements.execute(&mut conn).await.expect("SQL");
    let _ = conn.close().await;
}

/// Transactions that write draw a number each.
const ACTIVITY: &str = "
select (pg_snapshot_xmax(pg_current_snapshot())::text)::float8,
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8";
