//! A harness on a SQLite file that goes with it, the application's own tables beside the ledger's.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions as _, SqliteConnection};
use webhook_engine::Builder;
use webhook_sqlx::SqliteLedger;

use super::Harness;
use crate::staged::Staged;

/// A folder that is removed in the end.
pub(super) struct File(PathBuf);

/// Every moment that the ledger writes down.
const MOMENTS: [(&str, &[&str]); 4] = [
    ("webhook_claim", &["pruned_at"]),
    (
        "webhook_inbox",
        &[
            "due_at",
            "received_at",
            "last_seen_at",
            "settled_at",
            "replayed_at",
        ],
    ),
    (
        "webhook_quarantine",
        &["first_seen_at", "last_seen_at", "released_at"],
    ),
    (
        "webhook_signing_key",
        &["first_seen_at", "last_live_at", "pruned_at"],
    ),
];

impl Harness<SqliteLedger> {
    /// Start the endpoints that `mount` adds on a SQLite file of the test's own, in which the application has the
    /// tables that `schema` makes.
    pub async fn sqlite(
        schema: &'static str,
        mount: impl Fn(Builder<Staged<SqliteLedger>>) -> Builder<Staged<SqliteLedger>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let file = File::create();
        let mut conn = file.connect().await;
        sqlx::raw_sql(schema).execute(&mut conn).await.unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        let open = move || {
            let path = path.clone();
            async move { SqliteLedger::open(&path).await.unwrap() }
        };
        let mut harness = Self::on(open, mount).await;
        harness.file = Some(file);
        harness
    }

    /// The one number that `sql` asks for; 0 for null.
    pub async fn number(&self, sql: &'static str) -> i64 {
        let mut conn = self.connect().await;
        let number: Option<i64> = sqlx::query_scalar(sql).fetch_one(&mut conn).await.unwrap();
        number.unwrap_or_default()
    }

    /// The file's path, for an application that opens it, too.
    pub fn path(&self) -> PathBuf {
        self.file().path()
    }

    /// A connection beside the application's own.
    pub async fn connect(&self) -> SqliteConnection {
        self.file().connect().await
    }

    /// Let `length` pass: on the application's clock and on the store's, so that leases end, and retries and quiet times
    /// come due. Nobody waits.
    pub async fn pass(&self, length: Duration) {
        let millis = length.as_millis();
        let mut conn = self.connect().await;
        for (table, columns) in MOMENTS {
            for column in columns {
                // Names of our own and a number.
                let sql = format!("update {table} set {column} = {column} - {millis}");
                sqlx::raw_sql(AssertSqlSafe(sql))
                    .execute(&mut conn)
                    .await
                    .unwrap();
            }
        }
        self.clock().turn(length.as_secs().try_into().unwrap());
    }

    fn file(&self) -> &File {
        self.file.as_ref().unwrap()
    }
}

impl File {
    fn create() -> Self {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let name = format!("webhook-testkit-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.join("app.db")
    }

    async fn connect(&self) -> SqliteConnection {
        SqliteConnectOptions::new()
            .filename(self.path())
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(Duration::from_secs(10))
            .connect()
            .await
            .unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
