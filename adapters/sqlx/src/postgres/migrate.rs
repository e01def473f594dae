//! The schema, step by step, in one transaction under a lock that ends with it.

use sqlx::{Connection, PgConnection, Row};

use webhook_core::ledger::{Check, LedgerError};

use crate::checks;
use crate::error::ledger_error;

/// Reads the catalog's tables. `to_regclass` reads a cache, which after waiting for an advisory lock may
/// not have heard yet of what was created meanwhile.
macro_rules! exists {
    ($table:literal) => {
        concat!(
            "select exists (select from pg_catalog.pg_class
             join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
             where nspname = 'webhook' and relname = '",
            $table,
            "')"
        )
    };
}

/// Tables that are migrated together, with a record of their own of where they stand.
struct Series {
    /// Steps in order; the first makes version 1. A step, once released, never changes.
    steps: &'static [&'static str],
    /// The version this library writes and reads.
    version: i32,
    /// The oldest library that can use a schema this one has migrated.
    min_reader: i32,
    /// Whether there is a record, and what it says; how a step is entered.
    exists: &'static str,
    found: &'static str,
    enter: &'static str,
}

/// Bring the ledger's tables to this library's version. Any number of processes may do so at once.
///
/// A newer schema is left alone if it says that this library can read it.
pub(super) async fn migrate(conn: &mut PgConnection) -> Result<(), LedgerError> {
    bring(conn, &LEDGER).await
}

/// The same for the outbox's.
pub(super) async fn outbox(conn: &mut PgConnection) -> Result<(), LedgerError> {
    bring(conn, &OUTBOX).await
}

async fn bring(conn: &mut PgConnection, series: &Series) -> Result<(), LedgerError> {
    let found = version(conn, series).await.map_err(ledger_error)?;
    if is_current(found, series)? {
        return Ok(());
    }
    let mut tx = conn.begin().await.map_err(ledger_error)?;
    sqlx::raw_sql(LOCK)
        .execute(&mut *tx)
        .await
        .map_err(ledger_error)?;
    let found = version(&mut tx, series).await.map_err(ledger_error)?;
    if !is_current(found, series)? {
        for (step, sql) in (1i32..).zip(series.steps) {
            if found.is_none_or(|(version, _)| version < step) {
                let applied = apply(&mut tx, step, sql, series).await;
                applied.map_err(ledger_error)?;
            }
        }
    }
    tx.commit().await.map_err(ledger_error)
}

/// How the schema stands.
pub(super) async fn check(conn: &mut PgConnection) -> Result<Check, sqlx::Error> {
    let found = version(conn, &LEDGER).await?;
    let found = found.map(|(version, min_reader)| (version.into(), min_reader.into()));
    Ok(checks::schema(found, LEDGER.version.into()))
}

async fn apply(
    conn: &mut PgConnection,
    step: i32,
    sql: &'static str,
    series: &Series,
) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(sql).execute(&mut *conn).await?;
    sqlx::query(series.enter)
        .bind(step)
        .bind(series.min_reader)
        .execute(conn)
        .await?;
    Ok(())
}

/// The schema's version and the oldest library that may use it; `None` where there is none.
async fn version(
    conn: &mut PgConnection,
    series: &Series,
) -> Result<Option<(i32, i32)>, sqlx::Error> {
    let exists: bool = sqlx::query_scalar(series.exists)
        .fetch_one(&mut *conn)
        .await?;
    if !exists {
        return Ok(None);
    }
    let row = sqlx::query(series.found).fetch_one(conn).await?;
    let (version, min_reader): (Option<i32>, Option<i32>) = (row.try_get(0)?, row.try_get(1)?);
    Ok(version.zip(min_reader))
}

fn is_current(found: Option<(i32, i32)>, series: &Series) -> Result<bool, LedgerError> {
    let ours = series.version;
    match found {
        Some((_, min_reader)) if min_reader > ours => Err(LedgerError::unfit(format!(
            "its schema asks for a library that reads version {min_reader}, this one reads \
             {ours}: deploy a newer one"
        ))),
        Some((version, _)) => Ok(version >= ours),
        None => Ok(false),
    }
}

const LEDGER: Series = Series {
    steps: &[
        include_str!("../../migrations/postgres/0001.sql"),
        include_str!("../../migrations/postgres/0002.sql"),
    ],
    version: 2,
    min_reader: 1,
    exists: exists!("schema_version"),
    found: "select pg_catalog.max(version), pg_catalog.max(min_reader) from webhook.schema_version",
    enter: "insert into webhook.schema_version (version, min_reader) values ($1, $2)",
};

const OUTBOX: Series = Series {
    steps: &[
        include_str!("../../migrations/postgres/outbox/0001.sql"),
        include_str!("../../migrations/postgres/outbox/0002.sql"),
    ],
    version: 2,
    min_reader: 1,
    exists: exists!("outbox_version"),
    found: "select pg_catalog.max(version), pg_catalog.max(min_reader) from webhook.outbox_version",
    enter: "insert into webhook.outbox_version (version, min_reader) values ($1, $2)",
};

/// The number is arbitrary and must never change. Others may need minutes for a large table.
const LOCK: &str = "
set local lock_timeout = '60s';
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = '60s';
select pg_catalog.pg_advisory_xact_lock(8606216600190206)";
