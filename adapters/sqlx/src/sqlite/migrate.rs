//! The schema, step by step, in one transaction that holds the write lock.

use sqlx::{Row, SqliteConnection};
use webhook_core::ledger::{Check, LedgerError};

use super::SqliteLedger;
use crate::checks;

/// Tables that are migrated together, with a record of their own of where they stand.
struct Series {
    /// Steps in order; the first makes version 1. A step, once released, never changes.
    steps: &'static [&'static str],
    /// The version this library writes and reads.
    version: i64,
    /// The oldest library that can use a schema this one has migrated.
    min_reader: i64,
    /// Whether there is a record, and what it says; how a step is entered.
    exists: &'static str,
    found: &'static str,
    enter: &'static str,
}

/// Bring the ledger's tables to this library's version. Any number of processes may do so at once.
///
/// A newer schema is left alone if it says that this library can read it.
pub(super) async fn migrate(ledger: &SqliteLedger) -> Result<(), LedgerError> {
    bring(ledger, &LEDGER).await
}

/// The same for the outbox's.
pub(super) async fn outbox(ledger: &SqliteLedger) -> Result<(), LedgerError> {
    bring(ledger, &OUTBOX).await
}

/// How the ledger's schema stands.
pub(super) async fn check(conn: &mut SqliteConnection) -> Result<Check, sqlx::Error> {
    Ok(checks::schema(
        version(conn, &LEDGER).await?,
        LEDGER.version,
    ))
}

async fn bring(ledger: &SqliteLedger, series: &Series) -> Result<(), LedgerError> {
    let mut conn = ledger.write().await?;
    let outcome = try_migrate(&mut conn, series).await;
    let (outcome, refusal) = match outcome {
        Ok(verdict) => (Ok(()), verdict.err()),
        Err(error) => (Err(error), None),
    };
    ledger.commit(conn, outcome).await?;
    refusal.map_or(Ok(()), Err)
}

async fn try_migrate(
    conn: &mut SqliteConnection,
    series: &Series,
) -> Result<Result<(), LedgerError>, sqlx::Error> {
    let found = version(conn, series).await?;
    let ours = series.version;
    if let Some((_, min_reader)) = found
        && min_reader > ours
    {
        return Ok(Err(LedgerError::unfit(format!(
            "its schema asks for a library that reads version {min_reader}, this one reads \
             {ours}: deploy a newer one"
        ))));
    }
    for (step, sql) in (1i64..).zip(series.steps) {
        if found.is_none_or(|(version, _)| version < step) {
            sqlx::raw_sql(*sql).execute(&mut *conn).await?;
            sqlx::query(series.enter)
                .bind(step)
                .bind(series.min_reader)
                .execute(&mut *conn)
                .await?;
        }
    }
    Ok(Ok(()))
}

/// The schema's version and the oldest library that may use it; `None` where there is none.
async fn version(
    conn: &mut SqliteConnection,
    series: &Series,
) -> Result<Option<(i64, i64)>, sqlx::Error> {
    let exists: bool = sqlx::query_scalar(series.exists)
        .fetch_one(&mut *conn)
        .await?;
    if !exists {
        return Ok(None);
    }
    let row = sqlx::query(series.found).fetch_one(conn).await?;
    let (version, min_reader): (Option<i64>, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
    Ok(version.zip(min_reader))
}

const LEDGER: Series = Series {
    steps: &[
        include_str!("../../migrations/sqlite/0001.sql"),
        include_str!("../../migrations/sqlite/0002.sql"),
    ],
    version: 2,
    min_reader: 1,
    exists: "select exists (select 1 from sqlite_schema where name = 'webhook_schema_version')",
    found: "select max(version), max(min_reader) from webhook_schema_version",
    enter: "insert into webhook_schema_version (version, min_reader) values (?1, ?2)",
};

const OUTBOX: Series = Series {
    steps: &[
        include_str!("../../migrations/sqlite/outbox/0001.sql"),
        include_str!("../../migrations/sqlite/outbox/0002.sql"),
    ],
    version: 2,
    min_reader: 1,
    exists: "select exists (select 1 from sqlite_schema where name = 'webhook_outbox_version')",
    found: "select max(version), max(min_reader) from webhook_outbox_version",
    enter: "insert into webhook_outbox_version (version, min_reader) values (?1, ?2)",
};
