//! The ledger on SQLite.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use sqlx::pool::{PoolConnection, PoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous, SqliteTransactionManager,
};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, Sqlite, SqliteConnection, SqlitePool};
use sqlx_core::transaction::TransactionManager;
use tokio::time::sleep;
use webhook_core::ledger::{
    Check, Completion, Failure, Found, Inline, Lease, Ledger, LedgerError, Notice, Pruned,
    QuarantineId, Quarantined, Registration, Release, Replay, Replayable, Retention, Search, Take,
    Taken, TxLimits,
};
use webhook_core::{Claim, Clock, InboxId, NewEvent, Quarantine, fault_point};

use crate::batch::{self, Answers, Batcher, in_time};
use crate::checks::{self, Served};
use crate::error::{self, StoreFault, ledger_error, unavailable};
use crate::executor::{Executor, Lent};
use crate::listed::REPLAY_BATCH;
use crate::stored::uuid;

/// The store's clock in Unix milliseconds.
macro_rules! now {
    () => {
        "cast(unixepoch('subsec') * 1000 as integer)"
    };
}

mod check;
mod claim;
mod commit;
mod inbox;
mod migrate;
mod operator;
mod outbox;
mod prepare;
mod quarantine;
mod retention;
mod transaction;
mod writer;

pub use outbox::SqliteOutbox;
pub use transaction::SqliteTx;

use writer::{Turn, Writer};

/// The ledger on SQLite 3.42 or later, in a file beside the application's own tables.
///
/// SQLite has one writer. Claims, leases, records and handlers' transactions of one process queue for
/// it in the order in which they come; while a handler's transaction is open, claims wait and are not
/// refused. Handlers with slow work should therefore take a lazy transaction and open it last. Two
/// processes on one file are safe and slow.
///
/// Durability is each connection's: every one is set to write-ahead logging with `synchronous = full`
/// and read back. A connection that ran a handler is closed, because SQLite cannot reset one.
#[derive(Clone)]
pub struct SqliteLedger {
    inner: Arc<Inner>,
}

struct Inner {
    executor: Executor,
    ledger: SqlitePool,
    handlers: SqlitePool,
    writer: Arc<Writer>,
    claims: Batcher<Arc<[NewEvent]>, Vec<Claim>>,
    completions: Batcher<(Lease, Completion), bool>,
    served: Served,
}

impl SqliteLedger {
    /// Open the file at `path`, or the one that a URL such as `sqlite://app.db` names. It is created
    /// if it is missing.
    ///
    /// # Errors
    ///
    /// A database in memory, a URL that cannot be read, a file that cannot be opened or made durable.
    pub async fn open(path: &str) -> Result<Self, LedgerError> {
        let options = options(path)?;
        let executor = Executor::start()?;
        let thread = executor.clone();
        let opening = async move {
            let file = open_once(&options).await?;
            let ledger = pool(LEDGER_CONNECTIONS).connect_lazy_with(options.clone());
            let handlers = pool(HANDLER_CONNECTIONS)
                // There is no way to take back what a handler may have done to its connection.
                .after_release(|_, _| Box::pin(async { Ok(false) }))
                .connect_lazy_with(options);
            Ok(Arc::new_cyclic(|inner| Inner {
                claims: Batcher::start(&executor, claims(inner.clone())),
                completions: Batcher::start(&executor, completions(inner.clone())),
                served: Served::default(),
                executor,
                ledger,
                handlers,
                writer: Writer::of(&file),
            }))
        };
        let inner = thread.run(PATIENCE, opening).await?;
        Ok(Self { inner })
    }

    /// The outbox beside it, on the same connections.
    pub fn outbox(&self) -> SqliteOutbox {
        SqliteOutbox::of(self.clone())
    }

    fn of(inner: &Weak<Inner>) -> Result<Self, LedgerError> {
        let inner = inner.upgrade();
        let inner = inner.ok_or_else(|| unavailable(StoreFault::Closed))?;
        Ok(Self { inner })
    }

    fn served(&self) -> &Served {
        &self.inner.served
    }

    fn executor(&self) -> &Executor {
        &self.inner.executor
    }

    fn writer(&self) -> &Writer {
        &self.inner.writer
    }

    /// Run on the ledger's thread, to the end.
    async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, LedgerError>> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.executor().run(PATIENCE, work).await
    }

    async fn read(&self) -> Result<Lent<Sqlite>, LedgerError> {
        let connection = self.inner.ledger.acquire().await.map_err(ledger_error)?;
        Ok(Lent::new(connection, (), self.executor().clone()))
    }

    /// Wait for the pen and begin a transaction that writes.
    async fn write(&self) -> Result<Lent<Sqlite, Turn>, LedgerError> {
        let turn = self.writer().turn().await?;
        let connection = self.inner.ledger.acquire().await.map_err(ledger_error)?;
        let mut conn = Lent::new(connection, turn, self.executor().clone());
        let statement = "BEGIN IMMEDIATE".into_sql_str();
        match SqliteTransactionManager::begin(&mut conn, Some(statement)).await {
            Ok(()) => Ok(conn),
            Err(error) => conn.settle(Err(error)),
        }
    }

    /// Commit what [`SqliteLedger::write`] began, or roll it back.
    async fn commit<T>(
        &self,
        mut conn: Lent<Sqlite, Turn>,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, LedgerError> {
        let ended = match outcome {
            Ok(value) => SqliteTransactionManager::commit(&mut conn)
                .await
                .map(|()| value),
            Err(error) => {
                // An error of this is that of a transaction which is over already.
                let _ = SqliteTransactionManager::rollback(&mut conn).await;
                Err(error)
            }
        };
        match ended {
            Ok(value) => {
                conn.give_back();
                Ok(value)
            }
            Err(error) => {
                conn.close().await;
                Err(ledger_error(error))
            }
        }
    }

    async fn handler_connection(&self) -> Result<PoolConnection<Sqlite>, LedgerError> {
        self.inner.handlers.acquire().await.map_err(ledger_error)
    }
}

impl Ledger for SqliteLedger {
    type Conn = SqliteConnection;
    type Tx = SqliteTx;

    async fn prepare(&self, registration: Registration) -> Result<Vec<Notice>, LedgerError> {
        let ledger = self.clone();
        self.run(async move { prepare::prepare(&ledger, &registration).await })
            .await
    }

    async fn claim(&self, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        let bytes = events.iter().map(|event| event.payload().len()).sum();
        self.inner.claims.call(events.into(), bytes).await
    }

    async fn quarantine(&self, event: NewEvent, reason: Quarantine) -> Result<(), LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.write().await?;
            let outcome = quarantine::keep(&mut conn, &event, reason, None, false).await;
            ledger.commit(conn, outcome).await
        })
        .await
    }

    async fn begin_inline(
        &self,
        event: NewEvent,
        limits: TxLimits,
    ) -> Result<Inline<SqliteTx>, LedgerError> {
        let ledger = self.clone();
        self.run(async move { transaction::begin_inline(&ledger, &event, limits).await })
            .await
    }

    async fn begin(&self, lease: Lease, limits: TxLimits) -> Result<Option<SqliteTx>, LedgerError> {
        let ledger = self.clone();
        self.run(async move { transaction::begin(&ledger, lease, limits).await })
            .await
    }

    async fn take(&self, want: Take) -> Result<Taken, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.read().await?;
            let outcome = inbox::due(&mut conn, &want).await;
            if conn.settle(outcome)?.is_empty() {
                return Ok(Taken::default());
            }
            let mut conn = ledger.write().await?;
            let outcome = inbox::take(&mut conn, &want).await;
            ledger.commit(conn, outcome).await
        })
        .await
    }

    async fn renew(&self, leases: Vec<Lease>, length: Duration) -> Result<Vec<Lease>, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.write().await?;
            let outcome = inbox::renew(&mut conn, leases, length).await;
            ledger.commit(conn, outcome).await
        })
        .await
    }

    async fn complete(&self, lease: Lease, done: Completion) -> Result<bool, LedgerError> {
        let bytes = done.reply.body().len();
        self.inner.completions.call((lease, done), bytes).await
    }

    async fn fail(&self, lease: Lease, failure: Failure) -> Result<bool, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            fault_point!("fail.begin", error => return Err(ledger_error(error.into())));
            let mut conn = ledger.write().await?;
            let outcome = inbox::fail(&mut conn, lease, &failure).await;
            ledger.commit(conn, outcome).await
        })
        .await
    }

    async fn hand_back(&self, leases: Vec<Lease>) -> Result<(), LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.write().await?;
            let outcome = inbox::hand_back(&mut conn, &leases).await;
            ledger.commit(conn, outcome).await
        })
        .await
    }

    async fn prune(&self, what: Retention) -> Result<Pruned, LedgerError> {
        let ledger = self.clone();
        self.run(async move { retention::prune(&ledger, &what).await })
            .await
    }

    async fn quarantined(
        &self,
        endpoint: Option<Arc<str>>,
        after: Option<QuarantineId>,
        limit: u32,
    ) -> Result<Vec<Quarantined>, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.read().await?;
            let outcome = operator::quarantined(&mut conn, endpoint.as_deref(), after, limit).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn release(&self, id: QuarantineId, actor: String) -> Result<Release, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.write().await?;
            let outcome = operator::release(&mut conn, id, &actor).await;
            ledger.commit(conn, outcome).await
        })
        .await
    }

    async fn discard(&self, id: QuarantineId, actor: String) -> Result<bool, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.write().await?;
            let outcome = operator::discard(&mut conn, id, &actor).await;
            ledger.commit(conn, outcome).await
        })
        .await
    }

    async fn find(&self, what: Search) -> Result<Vec<Found>, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.read().await?;
            let outcome = operator::find(&mut conn, &what).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn replay(
        &self,
        inbox: InboxId,
        actor: String,
        which: Replayable,
    ) -> Result<Replay, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.write().await?;
            let outcome = operator::replay(&mut conn, uuid(inbox), &actor, which).await;
            ledger.commit(conn, outcome).await
        })
        .await
    }

    async fn replay_ignored(
        &self,
        endpoint: Arc<str>,
        event_types: Arc<[String]>,
        actor: String,
    ) -> Result<u64, LedgerError> {
        let mut replayed = 0u64;
        loop {
            let ledger = self.clone();
            let (endpoint, event_types) = (endpoint.clone(), event_types.clone());
            let actor = actor.clone();
            let batch = self.run(async move {
                let mut conn = ledger.write().await?;
                let outcome = operator::replay_ignored(
                    &mut conn,
                    &endpoint,
                    &event_types,
                    &actor,
                    REPLAY_BATCH,
                )
                .await;
                ledger.commit(conn, outcome).await
            });
            let batch = batch.await?;
            replayed = replayed.saturating_add(batch);
            if batch < REPLAY_BATCH {
                return Ok(replayed);
            }
        }
    }

    async fn check(&self, clock: Arc<dyn Clock>) -> Vec<Check> {
        let ledger = self.clone();
        let checks = self.run(async move { check::all(&ledger, &*clock).await });
        checks
            .await
            .unwrap_or_else(|fault| checks::unreachable(&fault))
    }

    /// One writes. The second place is for the other kind, inline or inbox, to be next.
    fn max_transactions(&self) -> usize {
        2
    }

    fn is_to_blame(&self, error: &(dyn std::error::Error + 'static)) -> bool {
        error::blames_store(error)
    }

    async fn close(&self) {
        let ledger = self.clone();
        let closing = self.run(async move {
            ledger.inner.handlers.close().await;
            ledger.inner.ledger.close().await;
            Ok(())
        });
        if closing.await.is_err() {
            tracing::error!("connections were still in use when the ledger was closed");
        }
    }
}

/// What the batchers run. They hold the ledger only while they do: the last handle may be dropped.
fn claims(
    inner: Weak<Inner>,
) -> impl Fn(Vec<Arc<[NewEvent]>>, batch::Turn) -> Answers<Vec<Claim>> + Clone + Send + 'static {
    move |deliveries, _| {
        let inner = inner.clone();
        in_time(async move {
            let ledger = SqliteLedger::of(&inner)?;
            claim::claim_together(&ledger, &deliveries).await
        })
    }
}

fn completions(
    inner: Weak<Inner>,
) -> impl Fn(Vec<(Lease, Completion)>, batch::Turn) -> Answers<bool> + Clone + Send + 'static {
    move |done, _| {
        let inner = inner.clone();
        in_time(async move {
            let ledger = SqliteLedger::of(&inner)?;
            let mut conn = ledger.write().await?;
            let outcome = inbox::complete(&mut conn, &done).await;
            ledger.commit(conn, outcome).await
        })
    }
}

impl fmt::Debug for SqliteLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SqliteLedger")
    }
}

fn options(path: &str) -> Result<SqliteConnectOptions, LedgerError> {
    let is_in_memory = path.contains(":memory:") || path.contains("mode=memory");
    // A `file:` URI could say so in other ways, and SQLite would read it.
    if is_in_memory || path.is_empty() || path.starts_with("file:") {
        return Err(LedgerError::unfit(check::IN_MEMORY));
    }
    let options = if path.starts_with("sqlite:") {
        SqliteConnectOptions::from_str(path).map_err(ledger_error)?
    } else {
        SqliteConnectOptions::new().filename(Path::new(path))
    };
    Ok(options
        .create_if_missing(true)
        .read_only(false)
        .immutable(false)
        .shared_cache(false)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // On macOS `fsync` does not reach the disk; elsewhere this says nothing.
        .pragma("fullfsync", "1")
        .foreign_keys(true)
        .busy_timeout(BUSY)
        // Statements of handlers may hold customers' data.
        .disable_statement_logging())
}

/// Create the file where it is missing, and check what can be had of it. Its own path is returned.
async fn open_once(options: &SqliteConnectOptions) -> Result<std::path::PathBuf, LedgerError> {
    let from = Instant::now();
    // Turning on write-ahead logging needs the file alone, and does not wait for that by itself.
    let mut conn = loop {
        match options.connect().await.map_err(ledger_error) {
            Err(error) if error.is_contention() && from.elapsed() < BUSY => {
                sleep(Duration::from_millis(20)).await;
            }
            outcome => break outcome?,
        }
    };
    let file = check::fit(&mut conn).await?;
    conn.close().await.map_err(ledger_error)?;
    Ok(file)
}

fn pool(max_connections: u32) -> PoolOptions<Sqlite> {
    PoolOptions::new()
        .max_connections(max_connections)
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        .after_connect(|conn, _| {
            Box::pin(async move {
                let checked = check::fit(conn).await;
                checked.map(drop).map_err(sqlx::Error::config)
            })
        })
}

/// One writes, the others read.
const LEDGER_CONNECTIONS: u32 = 4;
/// One is in use, others are being closed.
const HANDLER_CONNECTIONS: u32 = 4;
/// How long another process that writes is waited for.
const BUSY: Duration = Duration::from_secs(5);
const ACQUIRE: Duration = Duration::from_millis(1500);
/// Longer than the longest queue and the longest wait for another process.
const PATIENCE: Duration = Duration::from_secs(20);
