//! Undoing a transaction, and finding out whether it was still the one that was opened.

use sqlx::Postgres;
use sqlx::error::DatabaseError;
use sqlx::postgres::PgTransactionManager;
use sqlx_core::transaction::TransactionManager;
use webhook_core::ledger::{Lease, RolledBack};

use crate::executor::Lent;

/// Roll back what a handler leaves, and find out whether it had committed anything before.
pub(super) async fn undo_ours(mut conn: Lent<Postgres>, lease: Lease) -> RolledBack {
    let token = lease.token().get();
    let is_ours: Result<bool, _> = sqlx::query_scalar(IS_OURS)
        .bind(token)
        .fetch_one(&mut *conn)
        .await;
    match is_ours {
        Ok(true) => {
            undo(conn).await;
            return RolledBack::Undone;
        }
        Ok(false) => {
            conn.close().await;
            return RolledBack::Escaped;
        }
        Err(error) if !is_aborted(&error) => {
            conn.close().await;
            return RolledBack::Undone;
        }
        Err(_) => {}
    }
    // In a broken transaction nothing can be asked. The mark outlives it only if ours was committed.
    if PgTransactionManager::rollback(&mut conn).await.is_err() {
        conn.close().await;
        return RolledBack::Undone;
    }
    let is_marked: Result<bool, _> = sqlx::query_scalar(IS_MARKED)
        .bind(token)
        .fetch_one(&mut *conn)
        .await;
    if is_marked.is_ok_and(|is_marked| !is_marked) {
        conn.give_back();
        return RolledBack::Undone;
    }
    conn.close().await;
    RolledBack::Escaped
}

/// Roll back and give the connection back, or close it if its state is in doubt.
pub(super) async fn undo(mut conn: Lent<Postgres>) {
    if PgTransactionManager::get_transaction_depth(&conn) == 1
        && PgTransactionManager::rollback(&mut conn).await.is_ok()
    {
        conn.give_back();
    } else {
        conn.close().await;
    }
}

/// Whether the transaction had been aborted by an earlier error that was swallowed.
pub(super) fn is_aborted(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.as_deref() == Some("25P02")
}

pub(super) const IS_OURS: &str = "
select pg_catalog.current_setting('webhook.token', true) is not distinct from $1::bigint::text";

const IS_MARKED: &str = "
select pg_catalog.current_setting('webhook.mark', true) is not distinct from $1::bigint::text";
