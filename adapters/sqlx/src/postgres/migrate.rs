//! The schema, step by step, in one transaction under a lock that ends with it.

use sqlx::{Connection, PgConnection, Row};

use webhook_core::ledger::{Check, LedgerError};

use crate::checks;
use crate::error::ledger_error;

/// Bring the schema to this library's version. Any number of processes may do so at once.
///
/// A newer schema is left alone if it says that this library can read it.
pub(super) async fn migrate(conn: &mut PgConnection) -> Result<(), LedgerError> {
    let found = version(conn).await.map_err(ledger_error)?;
    if is_current(found)? {
        return Ok(());
    }
    let mut tx = conn.begin().await.map_err(ledger_error)?;
    sqlx::raw_sql(LOCK)
        .execute(&mut *tx)
        .await
        .map_err(ledger_error)?;
    let found = version(&mut tx).await.map_err(ledger_error)?;
    if !is_current(found)? {
        for (step, sql) in (1i32..).zip(STEPS) {
            if found.is_none_or(|(version, _)| version < step) {
                apply(&mut tx, step, sql).await.map_err(ledger_error)?;
            }
        }
    }
    tx.commit().await.map_err(ledger_error)
}

/// How the schema stands.
pub(super) async fn check(conn: &mut PgConnection) -> Result<Check, sqlx::Error> {
    let found = version(conn).await?;
    let found = found.map(|(version, min_reader)| (version.into(), min_reader.into()));
    Ok(checks::schema(found, VERSION.into()))
}

async fn apply(conn: &mut PgConnection, step: i32, sql: &'static str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(sql).execute(&mut *conn).await?;
    sqlx::query("insert into webhook.schema_version (version, min_reader) values ($1, $2)")
        .bind(step)
        .bind(MIN_READER)
        .execute(conn)
        .await?;
    Ok(())
}

/// The schema's version and the oldest library that may use it; `None` where there is none.
async fn version(conn: &mut PgConnection) -> Result<Option<(i32, i32)>, sqlx::Error> {
    let exists: bool = sqlx::query_scalar(EXISTS).fetch_one(&mut *conn).await?;
    if !exists {
        return Ok(None);
    }
    let row = sqlx::query(
        "select pg_catalog.max(version), pg_catalog.max(min_reader) from webhook.schema_version",
    )
    .fetch_one(conn)
    .await?;
    let (version, min_reader): (Option<i32>, Option<i32>) = (row.try_get(0)?, row.try_get(1)?);
    Ok(version.zip(min_reader))
}

fn is_current(found: Option<(i32, i32)>) -> Result<bool, LedgerError> {
    match found {
        Some((_, min_reader)) if min_reader > VERSION => Err(LedgerError::unfit(format!(
            "its schema asks for a library that reads version {min_reader}, this one reads \
             {VERSION}: deploy a newer one"
        ))),
        Some((version, _)) => Ok(version >= VERSION),
        None => Ok(false),
    }
}

/// Steps in order; the first makes version 1. A step, once released, never changes.
const STEPS: [&str; 1] = [include_str!("../../migrations/postgres/0001.sql")];
/// The version this library writes and reads.
const VERSION: i32 = 1;
/// The oldest library that can use a schema this one has migrated.
const MIN_READER: i32 = 1;

/// Reads the catalog's tables. `to_regclass` reads a cache, which after waiting for an advisory lock may
/// not have heard yet of what was created meanwhile.
const EXISTS: &str = "
select exists (
    select from pg_catalog.pg_class
    join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'webhook' and relname = 'schema_version')";

/// The number is arbitrary and must never change. Others may need minutes for a large table.
const LOCK: &str = "
set local lock_timeout = '60s';
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = '60s';
select pg_catalog.pg_advisory_xact_lock(8606216600190206)";
