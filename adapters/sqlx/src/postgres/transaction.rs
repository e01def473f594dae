//! The transaction that a handler's effect and its event's completion share.
//!
//! It is opened through sqlx's transaction manager, so that a handler's own `begin` is a savepoint.
//! It carries its token as a setting that ends with it: completion is refused in any other one.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use sqlx::postgres::PgTransactionManager;
use sqlx::{Connection, PgConnection, Postgres, SqlSafeStr};
use sqlx_core::transaction::TransactionManager;
use tokio::time::timeout;
use webhook_core::ledger::{
    Committed, Completion, FencingToken, Inline, Lease, LedgerError, LedgerTx, RolledBack, TxLimits,
};
use webhook_core::{NewEvent, fault_point};

use super::undo::{undo, undo_ours};
use super::{PostgresLedger, claim, commit};
use crate::error::{StoreFault, contention, ledger_error};
use crate::executor::Lent;
use crate::stored::{CLAIM_ROUNDS, inbox_id, leased_inline, millis, new_id, uuid};

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
        // In a task: from here on nobody can cancel.
        let completion =
            async move { commit::complete(&ledger, conn, lease, &done, patience).await };
        executor.run(patience.saturating_mul(2), completion).await
    }

    async fn rollback(self) -> RolledBack {
        let Self {
            mut conn,
            backend,
            lease,
            patience,
            ledger,
        } = self;
        let executor = ledger.executor().clone();
        let rolled_back = executor.run(patience, async move {
            interrupt(&ledger, &mut conn, backend).await;
            Ok(undo_ours(conn, lease).await)
        });
        // Whatever failed, the connection is closed by now, and that rolls back too.
        rolled_back.await.unwrap_or(RolledBack::Undone)
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
    fault_point!("begin.done", error => return Err(ledger_error(error.into())));
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
        fault_point!("inline.claimed", error => return Err(ledger_error(error.into())));
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

/// Milliseconds as a setting's text; 0 would switch the limit off.
fn limit(duration: Duration) -> String {
    millis(duration).clamp(1, i64::from(i32::MAX)).to_string()
}

fn patience(limits: TxLimits) -> Duration {
    limits.statement.saturating_add(Duration::from_secs(30))
}

/// Everything that ends with the transaction, the mark that stays only if it is committed, and whether the lease still holds, in one statement.
const ARM: &str = "
select
    pg_catalog.set_config('webhook.token', $1::bigint::text, true) is not null
    and pg_catalog.set_config('webhook.mark', $1::bigint::text, false) is not null
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
  and pg_catalog.set_config('webhook.mark', token::text, false) is not null
  and pg_catalog.set_config('statement_timeout', $1, true) is not null
  and pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true) is not null
  and pg_catalog.set_config('lock_timeout', $2, true) is not null";

const CANCEL: &str = "select pg_catalog.pg_cancel_backend($1)";

/// How long a connection may take to say that it is idle.
const READY: Duration = Duration::from_millis(50);
