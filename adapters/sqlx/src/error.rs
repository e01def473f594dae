//! What a failure of the store means, in classes and codes. Never in the store's words, which
//! quote rows.

use std::error::Error;
use std::io;

use sqlx::error::DatabaseError;
use webhook_core::ledger::{LedgerError, LedgerFault};

/// The cause of a [`LedgerError`], without a value from any row, query or URL.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StoreFault {
    /// Ours: the ledger was closed.
    #[error("the ledger is closed")]
    Closed,
    /// Ours: the queue before the store is full.
    #[error("too much is waiting for the store")]
    Crowded,
    /// The store's own code, and what it means to an operator.
    #[error("{meaning} (code {code})")]
    Code { code: String, meaning: &'static str },
    /// The way to the store.
    #[error("connection: {0}")]
    Connection(io::ErrorKind),
    /// The driver.
    #[error("{0}")]
    Driver(&'static str),
    /// Ours: what a task did.
    #[error("a task of the ledger panicked")]
    Panicked,
    /// The store took the statement and never answered.
    #[error("no answer in time")]
    Silent,
    /// A row that this library did not write.
    #[error("a stored row cannot be read")]
    Unreadable,
    /// Others held the key again and again.
    #[error("the key changed hands too often")]
    Unsettled,
    /// The queue of writers did not move.
    #[cfg(feature = "sqlite")]
    #[error("the writer was not free in time")]
    Writer,
}

pub(crate) fn internal(fault: StoreFault) -> LedgerError {
    LedgerError::new(LedgerFault::Internal, fault)
}

pub(crate) fn contention(fault: StoreFault) -> LedgerError {
    LedgerError::new(LedgerFault::Contention, fault)
}

pub(crate) fn unavailable(fault: StoreFault) -> LedgerError {
    LedgerError::new(LedgerFault::Unavailable, fault)
}

/// The same failure, told to one more of those who wait for it.
pub(crate) fn again(error: &LedgerError) -> LedgerError {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    let cause = cause.cloned().unwrap_or(StoreFault::Silent);
    LedgerError::new(error.kind().clone(), cause)
}

/// The class of `error`, and what may be told of it.
pub(crate) fn ledger_error(error: sqlx::Error) -> LedgerError {
    let kind = classify(&error);
    let fault = match error {
        sqlx::Error::Database(error) => {
            let code = error.code().map_or_else(String::new, Into::into);
            let meaning = meaning(&*error);
            StoreFault::Code { code, meaning }
        }
        sqlx::Error::Io(error) => StoreFault::Connection(error.kind()),
        sqlx::Error::Tls(_) => StoreFault::Driver("tls"),
        sqlx::Error::Configuration(_) => StoreFault::Driver("the database's URL cannot be read"),
        sqlx::Error::PoolTimedOut => {
            StoreFault::Driver("no connection in time: the store is away, or all are in use")
        }
        sqlx::Error::PoolClosed => StoreFault::Driver("the ledger is closed"),
        sqlx::Error::WorkerCrashed => StoreFault::Driver("the connection's thread ended"),
        sqlx::Error::Protocol(_) => StoreFault::Driver("protocol"),
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => StoreFault::Unreadable,
        _ => StoreFault::Driver("driver"),
    };
    LedgerError::new(kind, fault)
}

/// Whether a handler's `error` came of the store's contention or absence, somewhere in its chain.
///
/// A wrapper that passes on its source's source hides the [`sqlx::Error`], but not the database's.
pub(crate) fn blames_store(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| (*error).source())
        .filter_map(|error| {
            let ours = error.downcast_ref().map(classify);
            ours.or_else(|| {
                let database = error.downcast_ref::<Box<dyn DatabaseError>>()?;
                Some(classify_answer(&**database))
            })
        })
        .any(|kind| matches!(kind, LedgerFault::Contention | LedgerFault::Unavailable))
}

fn classify(error: &sqlx::Error) -> LedgerFault {
    match error {
        sqlx::Error::Database(error) => classify_answer(&**error),
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => LedgerFault::Unavailable,
        _ => LedgerFault::Internal,
    }
}

fn classify_answer(error: &dyn DatabaseError) -> LedgerFault {
    #[cfg(feature = "postgres")]
    if let Some(error) = error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>() {
        return classify_sqlstate(error.code());
    }
    #[cfg(feature = "sqlite")]
    if let Some(error) = error.try_downcast_ref::<sqlx::sqlite::SqliteError>() {
        let code = error.code().and_then(|code| code.parse().ok());
        return code.map_or(LedgerFault::Internal, classify_result_code);
    }
    LedgerFault::Internal
}

/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
#[cfg(feature = "postgres")]
fn classify_sqlstate(code: &str) -> LedgerFault {
    match code {
        // serialization failure, deadlock, lock not available, statement cancelled by its timeout
        "40001" | "40P01" | "55P03" | "57014" => LedgerFault::Contention,
        // idle in transaction for too long: the server closed the connection;
        // no such database, or no longer this password: nobody gets in;
        // a standby, or a primary that became one: it takes no writes
        "25P03" | "3D000" | "28000" | "28P01" | "25006" => LedgerFault::Unavailable,
        _ => match code.get(..2) {
            // connection, resources, operator intervention, system
            Some("08" | "53" | "57" | "58") => LedgerFault::Unavailable,
            _ => LedgerFault::Internal,
        },
    }
}

/// <https://www.sqlite.org/rescode.html>; the low byte is the primary code.
#[cfg(feature = "sqlite")]
fn classify_result_code(code: i32) -> LedgerFault {
    match code & 0xff {
        // busy, locked, interrupted by its time limit
        5 | 6 | 9 => LedgerFault::Contention,
        // read-only, I/O, full, cannot open, locking protocol
        8 | 10 | 13 | 14 | 15 => LedgerFault::Unavailable,
        _ => LedgerFault::Internal,
    }
}

/// What an operator has to look after.
fn meaning(error: &dyn DatabaseError) -> &'static str {
    #[cfg(feature = "postgres")]
    if let Some(error) = error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>() {
        return sqlstate_meaning(error.code());
    }
    #[cfg(feature = "sqlite")]
    if let Some(error) = error.try_downcast_ref::<sqlx::sqlite::SqliteError>() {
        let code = error.code().and_then(|code| code.parse().ok());
        return result_code_meaning(code.unwrap_or_default(), error.message());
    }
    REFUSED
}

#[cfg(feature = "postgres")]
fn sqlstate_meaning(code: &str) -> &'static str {
    match code {
        "25006" => READ_ONLY,
        "53100" => FULL,
        // a schema, table, column or function that is not there
        "3F000" | "42P01" | "42703" | "42883" => OTHER_SCHEMA,
        "42501" => "the store does not permit it",
        "28000" | "28P01" | "3D000" => "the store lets nobody in",
        "40001" | "40P01" | "55P03" | "57014" => IN_THE_WAY,
        _ => match code.get(..2) {
            Some("08") => "the connection broke",
            Some("53") => "the store has run out of resources",
            Some("57") => "the store is going down or coming up",
            Some("58") => DISK,
            _ => REFUSED,
        },
    }
}

/// SQLite has one code for all faults of a statement. Its words decide, and are not told.
#[cfg(feature = "sqlite")]
fn result_code_meaning(code: i32, words: &str) -> &'static str {
    match code & 0xff {
        1 if words.starts_with("no such ") || words.contains(" has no column named ") => {
            OTHER_SCHEMA
        }
        5 | 6 | 9 => IN_THE_WAY,
        8 => READ_ONLY,
        10 => DISK,
        11 | 26 => "the file is no sound database",
        13 => FULL,
        14 => "the file cannot be opened",
        _ => REFUSED,
    }
}

const DISK: &str = "the store's disk fails";
const FULL: &str = "the store is full";
const IN_THE_WAY: &str = "another transaction is in the way";
const OTHER_SCHEMA: &str = "the schema is not the one this library made";
const READ_ONLY: &str = "the store is read-only";
const REFUSED: &str = "the store refused";

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

    use super::*;

    #[tokio::test]
    async fn a_store_that_takes_no_writes_is_away_and_says_why() {
        for (limit, why) in [
            ("pragma max_page_count = 2", "the store is full (code 13)"),
            ("pragma query_only = 1", "the store is read-only (code 8)"),
        ] {
            let mut conn = SqliteConnection::connect("sqlite::memory:").await.unwrap();
            let full = format!("create table kept (bytes blob); {limit}");
            let write = "insert into kept values (zeroblob(100000))";
            sqlx::raw_sql(AssertSqlSafe(full))
                .execute(&mut conn)
                .await
                .unwrap();
            let error = sqlx::raw_sql(write).execute(&mut conn).await.unwrap_err();
            assert!(blames_store(&error), "{why}");
            let error = ledger_error(error);
            assert_eq!(*error.kind(), LedgerFault::Unavailable);
            assert_eq!(
                format!("{error:#}"),
                format!("the ledger is unavailable: {why}")
            );
            assert_eq!(
                format!("{:#}", again(&error)),
                format!("{error:#}"),
                "told twice"
            );
        }
    }

    #[tokio::test]
    async fn a_missing_table_is_another_schema_and_the_handlers_fault() {
        let mut conn = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let read = sqlx::raw_sql("select 1 from canary").execute(&mut conn);
        let error = read.await.unwrap_err();
        assert!(!blames_store(&error));
        let told = format!("{:#}", ledger_error(error));
        let why = "the schema is not the one this library made (code 1)";
        assert_eq!(told, format!("the ledger failed: {why}"));
    }
}
