//! Real databases, fresh for each test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use webhook_actix::ledger::Ledger;
use webhook_sqlx::{PostgresLedger, SqliteLedger};

/// A database of its own with an `effect` table, gone when dropped.
pub trait Store: Send + Sync + 'static {
    /// The ledger on it.
    type Ledger: Ledger<Conn: Effects>;
    /// Its name.
    const NAME: &str;
    /// A minute ago, by its clock and in its SQL.
    const A_MINUTE_AGO: &str;
    /// Make one.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// Where it is.
    fn url(&self) -> String;
    /// Open a ledger on it.
    fn ledger(&self) -> impl Future<Output = Self::Ledger> + Send;
    /// One number from a query; `webhook.` names are translated.
    fn number(&self, sql: &str) -> impl Future<Output = i64> + Send;
    /// Run a statement; `webhook.` names are translated.
    fn execute(&self, sql: &str) -> impl Future<Output = ()> + Send;
}

/// What handlers do on a connection.
pub trait Effects: Send + 'static {
    /// Insert one row.
    fn record(&mut self, id: &str) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// End the transaction behind the framework's back, as a stored procedure or a helper might.
    fn commit_by_hand(&mut self) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// A SQLite file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sqlite {
    path: PathBuf,
}

/// A database on the server that `TEST_DATABASE_URL` names.
#[derive(Debug)]
#[non_exhaustive]
pub struct Postgres {
    server: String,
    name: String,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

fn unique() -> String {
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("webhook_test_{}_{next}", std::process::id())
}

impl Store for Sqlite {
    type Ledger = SqliteLedger;
    const NAME: &str = "sqlite";
    const A_MINUTE_AGO: &str = "unixepoch() * 1000 - 60000";

    async fn fresh() -> Self {
        let path = std::env::temp_dir().join(format!("{}.db", unique()));
        let store = Self { path };
        store
            .execute("create table effect (id integer primary key, event_id text not null)")
            .await;
        store
    }

    fn url(&self) -> String {
        format!("sqlite://{}", self.path.display())
    }

    async fn ledger(&self) -> SqliteLedger {
        SqliteLedger::open(&self.url()).await.unwrap()
    }

    async fn number(&self, sql: &str) -> i64 {
        let sql = sql.replace("webhook.", "webhook_");
        // Statements of tests, not of users.
        sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_one(&mut self.connect().await)
            .await
            .unwrap()
    }

    async fn execute(&self, sql: &str) {
        let sql = sql.replace("webhook.", "webhook_");
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut self.connect().await)
            .await
            .unwrap();
    }
}

impl Sqlite {
    /// The file.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Run statements; what they hold is held until the connection is dropped.
    ///
    /// # Panics
    ///
    /// If they fail.
    pub async fn hold(&self, sql: &str) -> SqliteConnection {
        let mut connection = self.connect().await;
        let sql = AssertSqlSafe(sql.replace("webhook.", "webhook_"));
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        connection
    }

    async fn connect(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(true)
            .journal_mode(sqlx::sqlite::SqliteJournalMode::Wal)
            .busy_timeout(std::time::Duration::from_secs(10));
        SqliteConnection::connect_with(&options).await.unwrap()
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Store for Postgres {
    type Ledger = PostgresLedger;
    const NAME: &str = "postgres";
    const A_MINUTE_AGO: &str = "clock_timestamp() - interval '1 minute'";

    async fn fresh() -> Self {
        let server = std::env::var("TEST_DATABASE_URL")
            .expect("TEST_DATABASE_URL is not set: run the tests with `cargo xtask test`");
        let store = Self {
            server,
            name: unique(),
        };
        let mut admin = PgConnection::connect(&store.server).await.unwrap();
        for sql in ["drop database if exists", "create database"] {
            sqlx::raw_sql(AssertSqlSafe(format!("{sql} {}", store.name)))
                .execute(&mut admin)
                .await
                .unwrap();
        }
        store
            .execute("create table effect (id bigint generated always as identity primary key, event_id text not null)")
            .await;
        store
    }

    fn url(&self) -> String {
        // Input: postgres://user:word@host:port/name?options
        let (base, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let (base, _) = base.rsplit_once('/').expect("the URL names a database");
        format!("{base}/{}?{query}", self.name)
    }

    async fn ledger(&self) -> PostgresLedger {
        PostgresLedger::connect(&self.url()).await.unwrap()
    }

    async fn number(&self, sql: &str) -> i64 {
        let mut connection = PgConnection::connect(&self.url()).await.unwrap();
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
            .fetch_one(&mut connection)
            .await
            .unwrap()
    }

    async fn execute(&self, sql: &str) {
        let mut connection = PgConnection::connect(&self.url()).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&mut connection)
            .await
            .unwrap();
    }
}

impl Postgres {
    /// Run statements; what they hold is held until the connection is dropped.
    ///
    /// # Panics
    ///
    /// If they fail.
    pub async fn hold(&self, sql: &str) -> PgConnection {
        let mut connection = PgConnection::connect(&self.url()).await.unwrap();
        let sql = AssertSqlSafe(sql.to_owned());
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        connection
    }

    /// Run statements on the server's own database.
    ///
    /// # Panics
    ///
    /// If they fail.
    pub async fn admin(&self, sql: &str) {
        let mut admin = PgConnection::connect(&self.server).await.unwrap();
        for statement in sql.split(';') {
            let statement = AssertSqlSafe(statement.to_owned());
            sqlx::raw_sql(statement).execute(&mut admin).await.unwrap();
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A runtime cannot be entered from within another: use a thread of its own.
        let dropped = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async {
                if let Ok(mut admin) = PgConnection::connect(&server).await {
                    let sql = AssertSqlSafe(format!("drop database if exists {name} with (force)"));
                    let _ = sqlx::raw_sql(sql).execute(&mut admin).await;
                }
            });
        });
        let _ = dropped.join();
    }
}

impl Effects for PgConnection {
    async fn record(&mut self, id: &str) -> Result<(), sqlx::Error> {
        let insert = sqlx::query("insert into effect (event_id) values ($1)").bind(id);
        insert.execute(self).await.map(drop)
    }

    async fn commit_by_hand(&mut self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("commit").execute(self).await.map(drop)
    }
}

impl Effects for SqliteConnection {
    async fn record(&mut self, id: &str) -> Result<(), sqlx::Error> {
        let insert = sqlx::query("insert into effect (event_id) values (?1)").bind(id);
        insert.execute(self).await.map(drop)
    }

    async fn commit_by_hand(&mut self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("commit").execute(self).await.map(drop)
    }
}
