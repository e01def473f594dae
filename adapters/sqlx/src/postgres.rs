//! The ledger on PostgreSQL.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::pool::PoolOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor as _, PgConnection, PgPool, Postgres};
use tokio::sync::oneshot;
use webhook_core::ledger::{
    Check, Completion, Failure, Found, Inline, Lease, Ledger, LedgerError, Notice, Pruned,
    QuarantineId, Quarantined, Registration, Release, Replay, Replayable, Retention, Search, Take,
    Taken, TxLimits,
};
use webhook_core::{Claim, Clock, InboxId, NewEvent, Quarantine, fault_point};

use crate::batch::{Answers, Batcher, Turn, in_time};
use crate::checks::{self, Served};
use crate::error::{self, StoreFault, ledger_error, unavailable};
use crate::executor::{Executor, Lent};
use crate::listed::REPLAY_BATCH;
use crate::stored::uuid;

mod arrivals;
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
mod undo;

pub use outbox::PostgresOutbox;
pub use transaction::PostgresTx;

use arrivals::Arrivals;

/// The ledger on PostgreSQL 14 or later: any number of processes share one database.
///
/// It keeps two pools, and three connections beside them. Claims, leases and records run on one that handlers never touch; handlers'
/// transactions run on the other. Its tables are in the schema `webhook` of the database it is given,
/// beside the application's own, so that a handler's effect and its event's completion commit
/// together.
///
/// It must reach the server itself, or through a pooler that keeps sessions and passes the start-up
/// parameter `options`: [`Ledger::prepare`] refuses others.
#[derive(Clone)]
pub struct PostgresLedger {
    inner: Arc<Inner>,
}

/// How many connections the pools hold at most. The server's `max_connections` must allow for both and
/// three more, 27 by default, times the number of processes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PoolSizes {
    /// For claims, leases and records. Default: 8.
    pub ledger: u32,
    /// For handlers' transactions. Default: 16.
    pub handlers: u32,
}

struct Inner {
    executor: Executor,
    ledger: PgPool,
    /// For claims that share a statement.
    batches: PgPool,
    handlers: PgPool,
    claims: Batcher<Arc<[NewEvent]>, Vec<Claim>>,
    completions: Batcher<(Lease, Completion), bool>,
    arrivals: Arc<Arrivals>,
    /// Listens from the first time somebody wants to hear.
    listening: OnceLock<oneshot::Sender<Infallible>>,
    listener: PgPool,
    served: Served,
}

impl PostgresLedger {
    /// Connect to the database that `url` names, with pools of the default sizes.
    ///
    /// # Errors
    ///
    /// If the URL cannot be read or the server cannot be reached.
    pub async fn connect(url: &str) -> Result<Self, LedgerError> {
        Self::connect_with(url, PoolSizes::default()).await
    }

    /// Connect with pools of these sizes.
    ///
    /// # Errors
    ///
    /// As [`PostgresLedger::connect`].
    pub async fn connect_with(url: &str, sizes: PoolSizes) -> Result<Self, LedgerError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(ledger_error)?
            // Statements of handlers may hold customers' data.
            .disable_statement_logging()
            .options(SESSION);
        let executor = Executor::start()?;
        let thread = executor.clone();
        let connecting = async move {
            let options = notice_lost_clients(options).await.map_err(not_connected)?;
            let ledger =
                pool(sizes.ledger).connect_lazy_with(options.clone().options(LEDGER_SESSION));
            let handlers = pool(sizes.handlers)
                .after_release(|conn, _| Box::pin(async move { reset(conn).await }))
                .connect_lazy_with(options.clone().options(HANDLER_SESSION));
            let batches =
                pool(BATCH_CONNECTIONS).connect_lazy_with(options.clone().options(BATCH_SESSION));
            Ok(Arc::new_cyclic(|inner| Inner {
                claims: Batcher::start(&executor, claims(inner.clone())),
                completions: Batcher::start(&executor, completions(inner.clone())),
                arrivals: Arc::default(),
                listening: OnceLock::new(),
                listener: pool(1).connect_lazy_with(options.options(LEDGER_SESSION)),
                served: Served::default(),
                executor,
                ledger,
                batches,
                handlers,
            }))
        };
        let inner = thread.run(PATIENCE, connecting).await?;
        Ok(Self { inner })
    }

    /// The outbox beside it, on the same connections.
    pub fn outbox(&self) -> PostgresOutbox {
        PostgresOutbox::of(self.clone())
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

    /// Run on the ledger's thread, to the end.
    async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, LedgerError>> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.executor().run(PATIENCE, work).await
    }

    async fn lend(&self) -> Result<Lent<Postgres>, LedgerError> {
        let connection = self.inner.ledger.acquire().await.map_err(ledger_error)?;
        Ok(Lent::new(connection, (), self.executor().clone()))
    }

    /// Tell other processes of what was stored, without waiting for it.
    fn tell(&self, events: &[NewEvent], claims: &[Claim]) {
        let mut last = None;
        for (event, claim) in events.iter().zip(claims) {
            let is_new = matches!(claim, Claim::Stored | Claim::Revived);
            if is_new
                && last != Some(event.endpoint())
                && self.inner.arrivals.is_news(event.endpoint())
            {
                let (pool, endpoint) = (self.inner.ledger.clone(), event.endpoint().clone());
                self.executor()
                    .detach(async move { arrivals::tell(&pool, &endpoint).await });
            }
            last = is_new.then_some(event.endpoint()).or(last);
        }
    }

    async fn lend_to_batch(&self) -> Result<Lent<Postgres>, LedgerError> {
        let connection = self.inner.batches.acquire().await.map_err(ledger_error)?;
        Ok(Lent::new(connection, (), self.executor().clone()))
    }

    async fn lend_to_handler(&self) -> Result<Lent<Postgres>, LedgerError> {
        let connection = self.inner.handlers.acquire().await.map_err(ledger_error)?;
        Ok(Lent::new(connection, (), self.executor().clone()))
    }
}

impl Default for PoolSizes {
    fn default() -> Self {
        Self {
            ledger: 8,
            handlers: 16,
        }
    }
}

impl Ledger for PostgresLedger {
    type Conn = PgConnection;
    type Tx = PostgresTx;

    async fn prepare(&self, registration: Registration) -> Result<Vec<Notice>, LedgerError> {
        let ledger = self.clone();
        let preparing = async move { prepare::prepare(&ledger, &registration).await };
        self.executor().run(MIGRATION_PATIENCE, preparing).await
    }

    async fn claim(&self, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        let bytes = events.iter().map(|event| event.payload().len()).sum();
        self.inner.claims.call(events.into(), bytes).await
    }

    async fn quarantine(&self, event: NewEvent, reason: Quarantine) -> Result<(), LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.lend().await?;
            let outcome = quarantine::keep(&mut conn, &event, reason, None, false).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn begin_inline(
        &self,
        event: NewEvent,
        limits: TxLimits,
    ) -> Result<Inline<PostgresTx>, LedgerError> {
        let ledger = self.clone();
        self.run(async move { transaction::begin_inline(&ledger, &event, limits).await })
            .await
    }

    async fn begin(
        &self,
        lease: Lease,
        limits: TxLimits,
    ) -> Result<Option<PostgresTx>, LedgerError> {
        let ledger = self.clone();
        self.run(async move { transaction::begin(&ledger, lease, limits).await })
            .await
    }

    async fn take(&self, want: Take) -> Result<Taken, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.lend().await?;
            let outcome = inbox::take(&mut conn, &want).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn renew(&self, leases: Vec<Lease>, length: Duration) -> Result<Vec<Lease>, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.lend().await?;
            let outcome = inbox::renew(&mut conn, leases, length).await;
            conn.settle(outcome)
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
            let mut conn = ledger.lend().await?;
            let outcome = inbox::fail(&mut conn, lease, &failure).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn hand_back(&self, leases: Vec<Lease>) -> Result<(), LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.lend().await?;
            let outcome = inbox::hand_back(&mut conn, leases).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn prune(&self, what: Retention) -> Result<Pruned, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.lend().await?;
            let outcome = retention::prune(&mut conn, &what).await;
            conn.settle(outcome)
        })
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
            let mut conn = ledger.lend().await?;
            let outcome = operator::quarantined(&mut conn, endpoint.as_deref(), after, limit).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn release(&self, id: QuarantineId, actor: String) -> Result<Release, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.lend().await?;
            let outcome = operator::release(&mut conn, id, &actor).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn discard(&self, id: QuarantineId, actor: String) -> Result<bool, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.lend().await?;
            let outcome = operator::discard(&mut conn, id, &actor).await;
            conn.settle(outcome)
        })
        .await
    }

    async fn find(&self, what: Search) -> Result<Vec<Found>, LedgerError> {
        let ledger = self.clone();
        self.run(async move {
            let mut conn = ledger.lend().await?;
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
            let mut conn = ledger.lend().await?;
            let outcome = operator::replay(&mut conn, uuid(inbox), &actor, which).await;
            conn.settle(outcome)
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
                let mut conn = ledger.lend().await?;
                let outcome = operator::replay_ignored(
                    &mut conn,
                    &endpoint,
                    &event_types,
                    &actor,
                    REPLAY_BATCH,
                )
                .await;
                conn.settle(outcome)
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

    async fn arrival(&self) -> Arc<str> {
        let Inner {
            executor,
            listener,
            arrivals,
            listening,
            ..
        } = &*self.inner;
        listening.get_or_init(|| arrivals::listen(executor, listener.clone(), arrivals.clone()));
        arrivals.next().await
    }

    fn max_transactions(&self) -> usize {
        self.inner.handlers.options().get_max_connections() as usize
    }

    fn is_to_blame(&self, error: &(dyn std::error::Error + 'static)) -> bool {
        error::blames_store(error)
    }

    async fn close(&self) {
        let ledger = self.clone();
        let closing = self.run(async move {
            // Handlers first: what becomes of a lost commit is read through the other pool.
            ledger.inner.handlers.close().await;
            ledger.inner.listener.close().await;
            ledger.inner.batches.close().await;
            ledger.inner.ledger.close().await;
            Ok(())
        });
        if closing.await.is_err() {
            tracing::error!("connections were still in use when the ledger was closed");
        }
    }
}

impl fmt::Debug for PostgresLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresLedger")
    }
}

/// What the batchers run. They hold the ledger only while they do: the last handle may be dropped.
fn claims(
    inner: Weak<Inner>,
) -> impl Fn(Vec<Arc<[NewEvent]>>, Turn) -> Answers<Vec<Claim>> + Clone + Send + 'static {
    move |deliveries, turn| {
        let inner = inner.clone();
        in_time(async move {
            let ledger = PostgresLedger::of(&inner)?;
            claim::claim_together(&ledger, &deliveries, turn).await
        })
    }
}

fn completions(
    inner: Weak<Inner>,
) -> impl Fn(Vec<(Lease, Completion)>, Turn) -> Answers<bool> + Clone + Send + 'static {
    move |done, _| {
        let inner = inner.clone();
        in_time(async move {
            let ledger = PostgresLedger::of(&inner)?;
            let mut conn = ledger.lend().await?;
            let outcome = inbox::complete(&mut conn, &done).await;
            conn.settle(outcome)
        })
    }
}

fn pool(max_connections: u32) -> PoolOptions<Postgres> {
    PoolOptions::new()
        .max_connections(max_connections.max(1))
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        // Only a connection that lay idle may have died unnoticed; one in use costs no ping.
        .before_acquire(|conn: &mut PgConnection, meta| {
            Box::pin(async move {
                if meta.idle_for > TRUSTED_IDLE {
                    conn.ping().await?;
                }
                Ok(true)
            })
        })
}

/// Have the server notice within half a second that the client of a running statement is gone,
/// where its platform can.
async fn notice_lost_clients(options: PgConnectOptions) -> Result<PgConnectOptions, sqlx::Error> {
    let mut probe = PgConnection::connect_with(&options).await?;
    let can = probe
        .execute("set client_connection_check_interval = 500")
        .await
        .is_ok();
    probe.close().await?;
    Ok(if can {
        options.options([("client_connection_check_interval", "500")])
    } else {
        options
    })
}

/// What the first connection says of a URL that cannot work, in words.
fn not_connected(error: sqlx::Error) -> LedgerError {
    let code = error.as_database_error().and_then(DatabaseError::code);
    match code.as_deref() {
        Some("08P01") => LedgerError::unfit(
            "something between refuses the start-up parameter `options`: connect to the server \
             itself, or have the pooler keep sessions and pass it",
        ),
        Some("28000" | "28P01") => {
            LedgerError::unfit("the server refused the user or its password")
        }
        Some("3D000") => LedgerError::unfit("the server has no database of that name"),
        _ => ledger_error(error),
    }
}

/// Take back what a handler did to its session. `false` closes the connection.
///
/// Not `DISCARD ALL`, which would drop sqlx's prepared statements behind its back.
async fn reset(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    if conn.is_in_transaction() {
        return Ok(false);
    }
    sqlx::raw_sql(
        "reset session authorization; reset role; reset all; close all; unlisten *; \
         select pg_catalog.pg_advisory_unlock_all(); discard sequences; discard temp",
    )
    .execute(conn)
    .await?;
    Ok(true)
}

/// Asked for at the start of every session, so that neither a role's nor a database's settings stand
/// above them and `RESET ALL` returns to them.
const SESSION: [(&str, &str); 9] = [
    ("synchronous_commit", "on"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "off"),
    ("default_transaction_deferrable", "off"),
    // A client that fell silent is noticed in half a minute, not in two hours.
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "30000"),
    ("idle_in_transaction_session_timeout", "30000"),
];

const LEDGER_SESSION: [(&str, &str); 6] = [
    ("search_path", "pg_catalog"),
    // Every statement of ours is served by an index, and a plan made while a table was empty may be
    // kept until long after.
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("jit", "off"),
    ("lock_timeout", "1000"),
    ("statement_timeout", "10000"),
];

/// Claims with others behind them do not wait for one that somebody's open transaction holds.
const BATCH_SESSION: [(&str, &str); 6] = [
    ("search_path", "pg_catalog"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("jit", "off"),
    ("lock_timeout", "100"),
    ("statement_timeout", "10000"),
];

/// One a lane of the batcher.
const BATCH_CONNECTIONS: u32 = 2;

/// Until a transaction brings its own limits.
const HANDLER_SESSION: [(&str, &str); 2] =
    [("lock_timeout", "1000"), ("statement_timeout", "10000")];

const ACQUIRE: Duration = Duration::from_millis(1500);
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// Longer than any timeout of the server's: it is for one that fell silent.
const PATIENCE: Duration = Duration::from_secs(20);
const MIGRATION_PATIENCE: Duration = Duration::from_mins(10);
