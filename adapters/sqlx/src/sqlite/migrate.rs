//! The schema, step by step, in one transaction that holds the write lock.

use sqlx::{Row, SqliteConnection};
use webhook_core::ledger::{Check, LedgerError};

use super::SqliteLedger;
use crate::checks;

/// Bring the schema to this library's version. Any number of processes may do so at once.
///
/// A newer schema is left alone if it says that this library can read it.
pub(super) async fn migrate(ledger: &SqliteLedger) -> Result<(), LedgerError> {
    let mut conn = ledger.write().await?;
    let outcome = try_migrate(&mut conn).await;
    let (outcome, refusal) = match outcome {
        Ok(verdict) => (Ok(()), verdict.err()),
        Err(error) => (Err(error), None),
    };
    ledger.commit(conn, outcome).await?;
    refusal.map_or(Ok(()), Err)
}

/// How the schema stands.
pub(super) async fn check(conn: &mut SqliteConnection) -> Result<Check, sqlx::Error> {
    Ok(checks::schema(version(conn).await?, VERSION))
}

async fn try_migrate(conn: &mut SqliteConnection) -> Result<Result<(), LedgerError>, sqlx::Error> {
    let found = version(conn).await?;
    if let Some((_, min_reader)) = found
        && min_reader > VERSION
    {
        return Ok(Err(LedgerError::unfit(format!(
            "its schema asks for a library that reads version {min_reader}, this one reads \
             {VERSION}: deploy a newer one"
        ))));
    }
    for (step, sql) in (1i64..).zip(STEPS) {
        if found.is_none_or(|(version, _)| version < step) {
            sqlx::raw_sql(sql).execute(&mut *conn).await?;
            sqlx::query("insert into webhook_schema_version (version, min_reader) values (?1, ?2)")
                .bind(step)
                .bind(MIN_READER)
                .execute(&mut *conn)
                .await?;
        }
    }
    Ok(Ok(()))
}

/// The schema's version and the oldest library that may use it; `None` where there is none.
async fn version(conn: &mut SqliteConnection) -> Result<Option<(i64, i64)>, sqlx::Error> {
    let exists: bool = sqlx::query_scalar(
        "select exists (select 1 from sqlite_schema where name = 'webhook_schema_version')",
    )
    .fetch_one(&mut *conn)
    .await?;
    if !exists {
        return Ok(None);
    }
    let row = sqlx::query("select max(version), max(min_reader) from webhook_schema_version")
        .fetch_one(conn)
        .await?;
    let (version, min_reader): (Option<i64>, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
    Ok(version.zip(min_reader))
}

/// Steps in order; the first makes version 1. A step, once released, never changes.
const STEPS: [&str; 1] = [include_str!("../../migrations/sqlite/0001.sql")];
/// The version this library writes and reads.
const VERSION: i64 = 1;
/// The oldest library that can use a schema this one has migrated.
const MIN_READER: i64 = 1;
