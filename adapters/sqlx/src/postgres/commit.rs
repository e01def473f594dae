//! The guarded commit: the event's completion is the last statement, and exactly one row.

use std::time::Duration;

use sqlx::postgres::{PgDatabaseError, PgSeverity, PgTransactionManager};
use sqlx::{PgConnection, Postgres};
use sqlx_core::transaction::TransactionManager;
use tokio::time::{sleep, timeout};
use webhook_core::fault_point;
use webhook_core::ledger::{Committed, Completion, Lease, LedgerError};

use super::undo::{IS_OURS, is_aborted, undo};
use super::{PostgresLedger, inbox};
use crate::error::{StoreFault, ledger_error, unavailable};
use crate::executor::Lent;
use crate::stored::{reply_columns, uuid};

/// Complete the event and commit. A server that falls silent is given up after `patience`.
pub(super) async fn complete(
    ledger: &PostgresLedger,
    conn: Lent<Postgres>,
    lease: Lease,
    done: &Completion,
    patience: Duration,
) -> Result<Committed, LedgerError> {
    match timeout(patience, commit(conn, lease, done)).await {
        Ok(End::Known(committed)) => Ok(committed),
        Ok(End::Failed(error)) => Err(error),
        Ok(End::Unknown(transaction, error)) => {
            resolve(ledger, lease, Some(transaction), error).await
        }
        Err(_) => resolve(ledger, lease, None, unavailable(StoreFault::Silent)).await,
    }
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
    fault_point!("complete.written", error => return End::Failed(ledger_error(error.into())));
    match PgTransactionManager::commit(&mut conn).await {
        Ok(()) => {
            fault_point!("commit.done", error => return End::Unknown(transaction, ledger_error(error.into())));
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

/// Whether the server lives and says that it did not commit. After a fatal error it may have.
fn is_refusal(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(|error| error.try_downcast_ref::<PgDatabaseError>())
        .is_some_and(|error| error.severity() == PgSeverity::Error)
}

const COMPLETE: &str = "
update webhook.inbox set
    state = 'completed', settled_at = pg_catalog.clock_timestamp(), last_error = null,
    canonical = $3, reply_type = $4, reply = $5
where id = $1 and token = $2 and state = 'processing' and due_at > pg_catalog.clock_timestamp()
  and pg_catalog.current_setting('webhook.token', true) = $2::text
returning pg_catalog.pg_current_xact_id()::text";

const STATUS: &str = "select pg_catalog.pg_xact_status($1::xid8)";

const RESOLVE_ROUNDS: u32 = 25;
const RESOLVE_PAUSE: Duration = Duration::from_millis(200);
