//! The guarded commit: the event's completion is the last statement, and exactly one row.

use std::time::Duration;

use sqlx::sqlite::SqliteTransactionManager;
use sqlx::{Sqlite, SqliteConnection};
use sqlx_core::transaction::TransactionManager;
use tokio::time::{sleep, timeout};
use webhook_core::fault_point;
use webhook_core::ledger::{Committed, Completion, Lease, LedgerError};

use super::transaction::undo;
use super::writer::Turn;
use super::{SqliteLedger, inbox};
use crate::error::{StoreFault, ledger_error, unavailable};
use crate::executor::Lent;

/// Complete the event and commit. A disk that falls silent is given up after `patience`.
pub(super) async fn complete(
    ledger: &SqliteLedger,
    conn: Lent<Sqlite, Turn>,
    lease: Lease,
    done: &Completion,
    patience: Duration,
) -> Result<Committed, LedgerError> {
    match timeout(patience, commit(conn, lease, done)).await {
        Ok(End::Known(committed)) => Ok(committed),
        Ok(End::Failed(error)) => Err(error),
        Ok(End::Unknown(error)) => resolve(ledger, lease, error).await,
        Err(_) => resolve(ledger, lease, unavailable(StoreFault::Silent)).await,
    }
}

/// How an attempt to commit ended.
enum End {
    /// As told.
    Known(Committed),
    /// Before the commit was asked for, or nothing was committed.
    Failed(LedgerError),
    /// It is not known whether it took place.
    Unknown(LedgerError),
}

async fn commit(mut conn: Lent<Sqlite, Turn>, lease: Lease, done: &Completion) -> End {
    match release_and_complete(&mut conn, lease, done).await {
        Ok(Guard::Held) => {}
        Ok(Guard::Lost) => {
            undo(conn).await;
            return End::Known(Committed::LeaseLost);
        }
        Ok(Guard::Gone) => {
            conn.close().await;
            return End::Known(Committed::Escaped);
        }
        Err(error) => {
            conn.close().await;
            return End::Failed(ledger_error(error));
        }
    }
    fault_point!("complete.written", error => return End::Failed(ledger_error(error.into())));
    match SqliteTransactionManager::commit(&mut conn).await {
        Ok(()) => {
            fault_point!("commit.done", error => return End::Unknown(ledger_error(error.into())));
            conn.give_back();
            End::Known(Committed::Committed)
        }
        Err(error) => {
            let code = primary_code(&error);
            conn.close().await;
            match code {
                // A deferred constraint of the handler's: nothing was committed.
                Some(CONSTRAINT) => End::Known(Committed::Aborted),
                Some(BUSY) => End::Failed(ledger_error(error)),
                _ => End::Unknown(ledger_error(error)),
            }
        }
    }
}

/// What the guards of a completion found.
enum Guard {
    /// The transaction is another one, or a nested one was leaked.
    Gone,
    /// Exactly one row was completed.
    Held,
    /// None was: the lease is lost.
    Lost,
}

/// Complete the event as the last statement.
async fn release_and_complete(
    conn: &mut SqliteConnection,
    lease: Lease,
    done: &Completion,
) -> Result<Guard, sqlx::Error> {
    conn.lock_handle().await?.remove_progress_handler();
    match sqlx::raw_sql("RELEASE webhook").execute(&mut *conn).await {
        Ok(_) => {}
        Err(error) if primary_code(&error) == Some(ERROR) => return Ok(Guard::Gone),
        Err(error) => return Err(error),
    }
    if SqliteTransactionManager::get_transaction_depth(conn) != 1 {
        return Ok(Guard::Gone);
    }
    let was_held = inbox::complete_now(conn, lease, done).await?;
    Ok(if was_held { Guard::Held } else { Guard::Lost })
}

/// Read whether a commit took place whose connection has been closed. `error` is the answer if not.
async fn resolve(
    ledger: &SqliteLedger,
    lease: Lease,
    error: LedgerError,
) -> Result<Committed, LedgerError> {
    for _ in 0..RESOLVE_ROUNDS {
        match look(ledger, lease).await {
            Ok(true) => return Ok(Committed::Committed),
            Ok(false) => return Err(error),
            Err(_) => sleep(RESOLVE_PAUSE).await,
        }
    }
    tracing::error!("a commit's answer was lost and it is not known whether it took place");
    Err(error)
}

async fn look(ledger: &SqliteLedger, lease: Lease) -> Result<bool, LedgerError> {
    let mut conn = ledger.read().await?;
    let outcome = inbox::is_completed(&mut conn, lease).await;
    conn.settle(outcome)
}

/// <https://www.sqlite.org/rescode.html>
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?.parse::<i32>().ok()?;
    Some(code & 0xff)
}

const ERROR: i32 = 1;
const BUSY: i32 = 5;
const CONSTRAINT: i32 = 19;

const RESOLVE_ROUNDS: u32 = 25;
const RESOLVE_PAUSE: Duration = Duration::from_millis(200);
