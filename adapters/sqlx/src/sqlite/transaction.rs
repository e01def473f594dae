//! The transaction that a handler's effect and its event's completion share.
//!
//! It is opened through sqlx's transaction manager, so that a handler's own `begin` is a savepoint.
//! Inside it stands the savepoint `webhook`: it is gone if the handler ended the transaction.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sqlx::sqlite::SqliteTransactionManager;
use sqlx::{SqlSafeStr, Sqlite, SqliteConnection};
use sqlx_core::transaction::TransactionManager;
use webhook_core::ledger::{
    Committed, Completion, FencingToken, Inline, Lease, LedgerError, LedgerTx, RolledBack, TxLimits,
};
use webhook_core::{NewEvent, fault_point};

use super::claim::{self, One};
use super::writer::Turn;
use super::{SqliteLedger, commit, inbox};
use crate::error::{StoreFault, contention, ledger_error};
use crate::executor::Lent;
use crate::stored::{inbox_id, leased_inline, millis};

/// A handler's transaction on SQLite.
///
/// While it is open nobody else can write to the file: [`TxLimits::statement`] bounds the whole of
/// it. Past that, statements are interrupted; a pause without one is for the caller to end.
///
/// A statement that fails undoes itself alone, as always in SQLite: a handler that swallows the error
/// keeps the rest of its effect.
pub struct SqliteTx {
    /// Let go of before the connection is.
    tether: Tether,
    conn: Lent<Sqlite, Turn>,
    /// Something was committed on `conn` that was not ours to commit.
    has_escaped: Arc<AtomicBool>,
    lease: Lease,
    ledger: SqliteLedger,
}

impl LedgerTx for SqliteTx {
    type Conn = SqliteConnection;

    fn conn(&mut self) -> &mut SqliteConnection {
        &mut self.conn
    }

    async fn complete(self, done: Completion) -> Result<Committed, LedgerError> {
        let Self {
            tether: _tether,
            conn,
            lease,
            ledger,
            ..
        } = self;
        let executor = ledger.executor().clone();
        // In a task: from here on nobody can cancel.
        let completion =
            async move { commit::complete(&ledger, conn, lease, &done, PATIENCE).await };
        executor.run(PATIENCE.saturating_mul(2), completion).await
    }

    async fn rollback(self) -> RolledBack {
        let Self {
            tether,
            conn,
            has_escaped,
            ledger,
            ..
        } = self;
        drop(tether);
        let rolled_back = ledger.executor().run(PATIENCE, async move {
            undo(conn).await;
            Ok(())
        });
        // Whatever failed, the connection is closed by now, and that rolls back too.
        let _ = rolled_back.await;
        if has_escaped.load(Ordering::SeqCst) {
            RolledBack::Escaped
        } else {
            RolledBack::Undone
        }
    }
}

/// Interrupts the running statement when it is dropped: nobody waits for its result any more.
struct Tether(Arc<AtomicBool>);

impl Drop for Tether {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl fmt::Debug for SqliteTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTx")
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

/// Open a transaction for the holder of `lease`; `None` if it is lost.
///
/// The lease is renewed inside, because nobody can renew it while the transaction is open.
pub(super) async fn begin(
    ledger: &SqliteLedger,
    lease: Lease,
    limits: TxLimits,
) -> Result<Option<SqliteTx>, LedgerError> {
    let mut conn = open(ledger, limits).await?;
    match inbox::renew_one(&mut conn, lease, limits.lease).await {
        Ok(true) => {}
        Ok(false) => {
            undo(conn).await;
            return Ok(None);
        }
        Err(error) => {
            conn.close().await;
            return Err(ledger_error(error));
        }
    }
    fault_point!("begin.done", error => return Err(ledger_error(error.into())));
    arm(ledger, conn, lease, limits).await.map(Some)
}

/// Claim `event` in a transaction that its handler will share.
pub(super) async fn begin_inline(
    ledger: &SqliteLedger,
    event: &NewEvent,
    limits: TxLimits,
) -> Result<Inline<SqliteTx>, LedgerError> {
    let mut conn = open(ledger, limits).await?;
    let outcome = async {
        let token = inbox::next_token(&mut conn).await?;
        let lease = Some((token, millis(limits.lease)));
        let one = claim::claim_one(&mut conn, event, lease).await?;
        Ok((token, one))
    };
    match outcome.await {
        Ok((token, Some(One::Won { id, received_at }))) => {
            fault_point!("inline.claimed", error => return Err(ledger_error(error.into())));
            let lease = Lease::new(inbox_id(id), FencingToken::new(token));
            let tx = arm(ledger, conn, lease, limits).await?;
            let leased = leased_inline(event, lease, received_at);
            Ok(Inline::Granted(tx, Box::new(leased)))
        }
        Ok((_, Some(One::Lost(claim)))) => {
            // No handler ran: what the verdict wrote is committed as it stands.
            ledger.commit(conn, Ok(Inline::Settled(claim))).await
        }
        Ok((_, None)) => {
            conn.close().await;
            Err(contention(StoreFault::Unsettled))
        }
        Err(error) => ledger.commit(conn, Err(error)).await,
    }
}

/// Wait for the pen and take the write lock. The connection is a new one, opened before the pen is
/// taken.
async fn open(ledger: &SqliteLedger, limits: TxLimits) -> Result<Lent<Sqlite, Turn>, LedgerError> {
    let asked_at = Instant::now();
    let gate = ledger.writer().gate(limits.lock).await?;
    let connection = ledger.handler_connection().await?;
    let left = limits.lock.saturating_sub(asked_at.elapsed());
    let turn = ledger.writer().turn_of_handler(gate, left).await?;
    let mut conn = Lent::new(connection, turn, ledger.executor().clone());
    let statement = "BEGIN IMMEDIATE".into_sql_str();
    match SqliteTransactionManager::begin(&mut conn, Some(statement)).await {
        Ok(()) => Ok(conn),
        Err(error) => {
            conn.close().await;
            Err(ledger_error(error))
        }
    }
}

/// Set what tells an escaped transaction from ours, and what bounds it.
async fn arm(
    ledger: &SqliteLedger,
    mut conn: Lent<Sqlite, Turn>,
    lease: Lease,
    limits: TxLimits,
) -> Result<SqliteTx, LedgerError> {
    let tether = Tether(Arc::default());
    let is_abandoned = tether.0.clone();
    let has_escaped = Arc::new(AtomicBool::new(false));
    let escapes = has_escaped.clone();
    let armed = async {
        sqlx::raw_sql("SAVEPOINT webhook")
            .execute(&mut *conn)
            .await?;
        let (from, length) = (Instant::now(), limits.statement);
        let mut handle = conn.lock_handle().await?;
        handle.set_progress_handler(OPERATIONS, move || {
            !is_abandoned.load(Ordering::Relaxed) && from.elapsed() < length
        });
        // Every commit until ours is a handler's: of our transaction, or after it ended that one.
        handle.set_commit_hook(move || {
            escapes.store(true, Ordering::SeqCst);
            true
        });
        Ok(())
    };
    if let Err(error) = armed.await {
        conn.close().await;
        return Err(ledger_error(error));
    }
    Ok(SqliteTx {
        tether,
        conn,
        has_escaped,
        lease,
        ledger: ledger.clone(),
    })
}

/// Roll back, or close the connection if its state is in doubt; the pen is free after either.
pub(super) async fn undo(mut conn: Lent<Sqlite, Turn>) {
    if SqliteTransactionManager::get_transaction_depth(&conn) == 1
        && SqliteTransactionManager::rollback(&mut conn).await.is_ok()
    {
        conn.give_back();
    } else {
        conn.close().await;
    }
}

/// Instructions of SQLite's machine between two looks at the clock.
const OPERATIONS: i32 = 10_000;
const PATIENCE: Duration = Duration::from_secs(30);
