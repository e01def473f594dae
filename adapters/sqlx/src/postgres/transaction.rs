//! The transaction that a handler's effect and its event's completion share.
//!
//! It is opened through sqlx's transaction manager, so that a handler's own `begin` is a savepoint.
//! It carries its token as a setting that ends with it: completion is refused in any other one.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgSeverity, PgTransactionManager};
use sqlx::{Connection, PgConnection, Postgres, SqlSafeStr};
use sqlx_core::transaction::TransactionManager;
use tokio::time::{sleep, timeout};
use webhook_core::NewEvent;
use webhook_core::ledger::{
    Committed, Completion, FencingToken, Inline, Lease, LedgerError, LedgerTx, TxLimits,
};

use super::{PostgresLedger, claim, inbox};
use crate::error::{StoreFault, contention, ledger_error, unavailable};
use crate::executor::Lent;
use crate::stored::{CLAIM_ROUNDS, inbox_id, leased_inline, millis, new_id, reply_columns, uuid};

/// A handler's transaction on PostgreSQL.
pub struct PostgresTx {
    conn: Lent<Postgres>,
    /// The server's process behind `conn`.
    backend: i32,
    lease: Lease,
    /// How long a silent server is waited for.
    patience: Duration,
    ledger: PostgresLedger,
}

impl LedgerTx for PostgresTx {
    type Conn = PgConnection;

    fn conn(&mut self) -> &mut PgConnection {
        &mut self.conn
    }

    async fn complete(self, done: Completion) -> Result<Committed, LedgerError> {
        let Self {
            conn,
            lease,
            patience,
            ledger,
            ..
        } = self;
        let executor = ledger.executor().clone();
        let whole = patience.saturating_mul(2);
        // In a task: from here on nobody can cancel.
        let completion = async move {
            match timeout(patience, commit(conn, lease, &done)).await {
                Ok(End::Known(committed)) => Ok(committed),
                Ok(End::Failed(error)) => Err(error),
                Ok(End::Unknown(transaction, error)) => {
                    resolve(&ledger, lease, Some(transaction), error).await
                }
                Err(_) => resolve(&ledger, lease, None, unavailable(StoreFault::Silent)).await,
            }
        };
        executor.run(whole, completion).await
    }

    async fn rollback(self) {
        let Self {
            mut conn,
            backend,
            patience,
            ledger,
            ..
        } = self;
        let executor = ledger.executor().clone();
        let rolled_back = executor.run(patience, async move {
            interrupt(&ledger, &mut conn, backend).await;
            undo(conn).await;
            Ok(())
        });
        // Whatever failed, the connection is closed by now, and that rolls back too.
        let _ = rolled_back.await;
    }
}

impl fmt::Debug for PostgresTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTx")
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

/// Open a transaction for the holder of `lease`; `None` if it is lost.
pub(super) async fn begin(
    ledger: &PostgresLedger,
    lease: Lease,
    limits: TxLimits,
) -> Result<Option<PostgresTx>, LedgerError> {
    let mut conn = open(ledger).await?;
    let (is_held, backend): (bool, i32) = sqlx::query_as(ARM)
        .bind(lease.token().get())
        .bind(limit(limits.statement))
        .bind(limit(limits.lock))
        .bind(uuid(lease.inbox()))
        .fetch_one(&mut *conn)
        .await
        .map_err(ledger_error)?;
    if !is_held {
        undo(conn).await;
        return Ok(None);
    }
    Ok(Some(PostgresTx {
        conn,
        backend,
        lease,
        patience: patience(limits),
        ledger: ledger.clone(),
    }))
}

/// Claim `event` in a transaction that its handler will share.
pub(super) async fn begin_inline(
    ledger: &PostgresLedger,
    event: &NewEvent,
    limits: TxLimits,
) -> Result<Inline<PostgresTx>, LedgerError> {
    for _ in 0..CLAIM_ROUNDS {
        let mut conn = open(ledger).await?;
        let (token, backend): (i64, i32) = sqlx::query_as(ARM_INLINE)
            .bind(limit(limits.statement))
            .bind(limit(limits.lock))
            .fetch_one(&mut *conn)
            .await
            .map_err(ledger_error)?;
        let id = new_id();
        let lease = Some((token, millis(limits.lease)));
        // Waits for whoever holds a key in an open transaction, for as long as a lock may be waited for.
        let won = claim::insert(&mut conn, &[(id, event)], lease)
            .await
            .map_err(ledger_error)?;
        if let Some((id, received_at)) = won.first() {
            let lease = Lease::new(inbox_id(*id), FencingToken::new(token));
            let tx = PostgresTx {
                conn,
                backend,
                lease,
                patience: patience(limits),
                ledger: ledger.clone(),
            };
            let leased = leased_inline(event, lease, *received_at);
            return Ok(Inline::Granted(tx, Box::new(leased)));
        }
        undo(conn).await;
        if let Some(claim) = claim::judge_lost(ledger, event).await? {
            return Ok(Inline::Settled(claim));
        }
    }
    Err(contention(StoreFault::Unsettled))
}

/// How an attempt to commit ended.
enum End {
    /// As told.
    Known(Committed),
    /// Before the commit was asked for.
    Failed(LedgerError),
    /// Its answer was lost. The transaction's number is known.
    Unknown(String, LedgerError),
}

async fn open(ledger: &PostgresLedger) -> Result<Lent<Postgres>, LedgerError> {
    let mut conn = ledger.lend_to_handler().await?;
    let statement = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE".into_sql_str();
    PgTransactionManager::begin(&mut conn, Some(statement))
        .await
        .map_err(ledger_error)?;
    Ok(conn)
}

/// End the statement that a handler left running when it was cut off: its locks would outlive it.
///
/// The connection is held meanwhile, so that `backend` is nobody else's process.
async fn interrupt(ledger: &PostgresLedger, conn: &mut PgConnection, backend: i32) {
    let mut is_ready = pin!(conn.ping());
    if timeout(READY, &mut is_ready).await.is_ok() {
        return;
    }
    if let Ok(mut other) = ledger.lend().await {
        let cancelled = sqlx::query(CANCEL).bind(backend).execute(&mut *other).await;
        // Where it could not be cancelled, its own limit ends it.
        let _ = other.settle(cancelled);
    }
    let _ = is_ready.await;
}

/// Roll back and give the connection back, or close it if its state is in doubt.
async fn undo(mut conn: Lent<Postgres>) {
    if PgTransactionManager::get_transaction_depth(&conn) == 1
        && PgTransactionManager::rollback(&mut conn).await.is_ok()
    {
        conn.give_back();
    } else {
        conn.close().await;
    }
}

async fn commit(mut conn: Lent<Postgres>, lease: Lease, done: &Completion) -> End {
    // A nested transaction that was leaked: `COMMIT` would only release its savepoint.
    if PgTransactionManager::get_transaction_depth(&conn) != 1 {
        conn.close().await;
        return End::Known(Committed::Escaped);
    }
    let transaction = match arm_and_complete(&mut conn, lease, done).await {
        Ok(Some(transaction)) => transaction,
        Ok(None) => return refused(conn, lease).await,
        Err(error) => {
            let was_aborted = is_aborted(&error);
            conn.close().await;
            return if was_aborted {
                End::Known(Committed::Aborted)
            } else {
                End::Failed(ledger_error(error))
            };
        }
    };
    match PgTransactionManager::commit(&mut conn).await {
        Ok(()) => {
            conn.give_back();
            End::Known(Committed::Committed)
        }
        Err(error) => {
            let was_refused = is_refusal(&error);
            conn.close().await;
            let error = ledger_error(error);
            if !was_refused {
                End::Unknown(transaction, error)
            } else if error.is_contention() {
                End::Failed(error)
            } else {
                // A deferred constraint of the handler's, for example.
                End::Known(Committed::Aborted)
            }
        }
    }
}

/// Complete the event as the last statement. The transaction's number if exactly one row was.
async fn arm_and_complete(
    conn: &mut PgConnection,
    lease: Lease,
    done: &Completion,
) -> Result<Option<String>, sqlx::Error> {
    // The handler may have become somebody who may not see our tables.
    sqlx::raw_sql("RESET SESSION AUTHORIZATION; RESET ROLE")
        .execute(&mut *conn)
        .await?;
    let (reply_type, reply) = reply_columns(&done.reply);
    sqlx::query_scalar(COMPLETE)
        .bind(uuid(lease.inbox()))
        .bind(lease.token().get())
        .bind(done.canonical.map(|digest| digest.as_bytes().to_vec()))
        .bind(reply_type)
        .bind(reply)
        .fetch_optional(conn)
        .await
}

/// Why no row was completed: the lease is lost, or this is not the transaction that was opened.
async fn refused(mut conn: Lent<Postgres>, lease: Lease) -> End {
    let is_ours: Result<bool, _> = sqlx::query_scalar(IS_OURS)
        .bind(lease.token().get())
        .fetch_one(&mut *conn)
        .await;
    match is_ours {
        Ok(true) => {
            undo(conn).await;
            End::Known(Committed::LeaseLost)
        }
        Ok(false) => {
            conn.close().await;
            End::Known(Committed::Escaped)
        }
        Err(error) => {
            conn.close().await;
            End::Failed(ledger_error(error))
        }
    }
}

/// Find out whether a commit whose answer was lost took place: wait for its transaction to end, then
/// read the row. `error` is the answer if it did not.
async fn resolve(
    ledger: &PostgresLedger,
    lease: Lease,
    transaction: Option<String>,
    error: LedgerError,
) -> Result<Committed, LedgerError> {
    for _ in 0..RESOLVE_ROUNDS {
        match look(ledger, lease, transaction.as_deref()).await {
            Ok(Some(true)) => return Ok(Committed::Committed),
            Ok(Some(false)) => return Err(error),
            Ok(None) | Err(_) => sleep(RESOLVE_PAUSE).await,
        }
    }
    tracing::error!("a commit's answer was lost and it is not known whether it took place");
    Err(error)
}

/// `None` if the transaction is still running.
async fn look(
    ledger: &PostgresLedger,
    lease: Lease,
    transaction: Option<&str>,
) -> Result<Option<bool>, LedgerError> {
    let mut conn = ledger.lend().await?;
    if let Some(transaction) = transaction {
        // Fails where this number is unknown, on a promoted standby: then nothing of it is running.
        let status: Result<Option<String>, _> = sqlx::query_scalar(STATUS)
            .bind(transaction)
            .fetch_one(&mut *conn)
            .await;
        match status {
            Ok(Some(status)) if status == "in progress" => {
                conn.give_back();
                return Ok(None);
            }
            Ok(_) | Err(sqlx::Error::Database(_)) => {}
            Err(error) => return Err(ledger_error(error)),
        }
    }
    let outcome = inbox::is_completed(&mut conn, lease).await;
    conn.settle(outcome).map(Some)
}

/// Whether the transaction had been aborted by an earlier error that was swallowed.
fn is_aborted(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.as_deref() == Some("25P02")
}

/// Whether the server lives and says that it did not commit. After a fatal error it may have.
fn is_refusal(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(|error| error.try_downcast_ref::<PgDatabaseError>())
        .is_some_and(|error| error.severity() == PgSeverity::Error)
}

/// Milliseconds as a setting's text; 0 would switch the limit off.
fn limit(duration: Duration) -> String {
    millis(duration).clamp(1, i64::from(i32::MAX)).to_string()
}

fn patience(limits: TxLimits) -> Duration {
    limits.statement.saturating_add(Duration::from_secs(30))
}

/// Everything that ends with the transaction, and whether the lease still holds, in one statement.
const ARM: &str = "
select
    pg_catalog.set_config('webhook.token', $1::bigint::text, true) is not null
    and pg_catalog.set_config('statement_timeout', $2, true) is not null
    and pg_catalog.set_config('idle_in_transaction_session_timeout', $2, true) is not null
    and pg_catalog.set_config('lock_timeout', $3, true) is not null
    and exists (
        select from webhook.inbox
        where id = $4 and token = $1 and state = 'processing'
          and due_at > pg_catalog.clock_timestamp()),
    pg_catalog.pg_backend_pid()";

const ARM_INLINE: &str = "
with drawn as materialized (select pg_catalog.nextval('webhook.fencing_token') as token)
select token, pg_catalog.pg_backend_pid() from drawn
where pg_catalog.set_config('webhook.token', token::text, true) is not null
  and pg_catalog.set_config('statement_timeout', $1, true) is not null
  and pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true) is not null
  and pg_catalog.set_config('lock_timeout', $2, true) is not null";

const COMPLETE: &str = "
update webhook.inbox set
    state = 'completed', settled_at = pg_catalog.clock_timestamp(), last_error = null,
    canonical = $3, reply_type = $4, reply = $5
where id = $1 and token = $2 and state = 'processing' and due_at > pg_catalog.clock_timestamp()
  and pg_catalog.current_setting('webhook.token', true) = $2::text
returning pg_catalog.pg_current_xact_id()::text";

const IS_OURS: &str = "
select pg_catalog.current_setting('webhook.token', true) is not distinct from $1::bigint::text";

const CANCEL: &str = "select pg_catalog.pg_cancel_backend($1)";

const STATUS: &str = "select pg_catalog.pg_xact_status($1::xid8)";

/// How long a connection may take to say that it is idle.
const READY: Duration = Duration::from_millis(50);
const RESOLVE_ROUNDS: u32 = 25;
const RESOLVE_PAUSE: Duration = Duration::from_millis(200);
