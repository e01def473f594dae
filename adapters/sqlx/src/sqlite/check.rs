//! What the file is found to be: at start, where what is bad is refused, and whenever asked.

use std::path::{Path, PathBuf};

use sqlx::{Row, SqliteConnection};
use webhook_core::Clock;
use webhook_core::ledger::{Check, CheckVerdict, LedgerError};

use super::{SqliteLedger, migrate};
use crate::checks::{self, Reading, bad, good, warning};
use crate::error::ledger_error;

/// Everything there is to look at.
pub(super) async fn all(
    ledger: &SqliteLedger,
    clock: &dyn Clock,
) -> Result<Vec<Check>, LedgerError> {
    let mut conn = ledger.read().await?;
    let served = ledger.served().names();
    let outcome = look(&mut conn, clock, &served).await;
    let mut checks = conn.settle(outcome)?;
    checks.push(writable(ledger).await);
    Ok(checks)
}

async fn look(
    conn: &mut SqliteConnection,
    clock: &dyn Clock,
    served: &[String],
) -> Result<Vec<Check>, sqlx::Error> {
    let (file, mut checks) = settings(conn).await?;
    checks.push(checks::room(file.as_deref().and_then(free_bytes)));
    checks.push(offset(conn, clock).await?);
    let schema = migrate::check(conn).await?;
    let is_usable = schema.verdict == CheckVerdict::Good;
    checks.push(schema);
    if is_usable {
        checks.push(checks::waiting(&orphans(conn, served).await?));
    }
    Ok(checks)
}

/// Endpoints that events wait for, served neither here nor, as far as its keys tell, by anybody, and how
/// many there are.
pub(super) async fn orphans(
    conn: &mut SqliteConnection,
    served: &[String],
) -> Result<Vec<(String, i64)>, sqlx::Error> {
    let mut orphans: Vec<(String, i64)> = sqlx::query_as(ORPHANS).fetch_all(conn).await?;
    orphans.retain(|(endpoint, _)| !served.contains(endpoint));
    Ok(orphans)
}

/// Refuse a connection that would lose what was acknowledged. The file's own path is returned.
pub(super) async fn fit(conn: &mut SqliteConnection) -> Result<PathBuf, LedgerError> {
    let (file, checks) = settings(conn).await.map_err(ledger_error)?;
    checks::refuse(checks)?;
    file.ok_or_else(|| LedgerError::unfit(IN_MEMORY))
}

/// The file's own path, and whether this connection keeps what it acknowledges.
async fn settings(
    conn: &mut SqliteConnection,
) -> Result<(Option<PathBuf>, Vec<Check>), sqlx::Error> {
    let row = sqlx::query(SETTINGS).fetch_one(conn).await?;
    let file: Option<String> = row.try_get(0)?;
    let file = file.filter(|file| !file.is_empty()).map(PathBuf::from);
    let (journal, synchronous): (String, i64) = (row.try_get(1)?, row.try_get(2)?);
    let (foreign_keys, is_recent): (bool, bool) = (row.try_get(3)?, row.try_get(4)?);
    let checks = vec![
        if file.is_some() {
            good("file", "the database is a file")
        } else {
            bad("file", IN_MEMORY)
        },
        if journal.eq_ignore_ascii_case("wal") {
            good("journal_mode", "`journal_mode` is `wal`")
        } else {
            bad(
                "journal_mode",
                format!(
                    "`journal_mode` is `{journal}` and cannot be set to `wal`: use a local file system"
                ),
            )
        },
        if synchronous == FULL {
            good("synchronous", "`synchronous` is `full`")
        } else {
            bad(
                "synchronous",
                "`synchronous` must be `full`, and setting it had no effect",
            )
        },
        if foreign_keys {
            good("foreign_keys", "`foreign_keys` is on")
        } else {
            bad(
                "foreign_keys",
                "`foreign_keys` must be on, and setting it had no effect",
            )
        },
        if is_recent {
            good("version", "SQLite 3.42 or later")
        } else {
            bad("version", "SQLite 3.42 or later is needed")
        },
    ];
    Ok((file, checks))
}

/// What is free where `file` is, for who may not use what is kept for root.
#[cfg(unix)]
fn free_bytes(file: &Path) -> Option<u64> {
    let volume = rustix::fs::statvfs(file).ok()?;
    Some(volume.f_bavail.saturating_mul(volume.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_file: &Path) -> Option<u64> {
    None
}

/// How far `clock` is from SQLite's.
pub(super) async fn offset(
    conn: &mut SqliteConnection,
    clock: &dyn Clock,
) -> Result<Check, sqlx::Error> {
    let reading = Reading::begin(clock);
    let store: i64 = sqlx::query_scalar(NOW).fetch_one(conn).await?;
    Ok(reading.end(store))
}

/// Whether the write lock can be had; nothing is written.
async fn writable(ledger: &SqliteLedger) -> Check {
    let tried = async {
        let conn = ledger.write().await?;
        ledger.commit(conn, Ok(())).await
    };
    match tried.await {
        Ok(()) => good(WRITABLE, "the write lock can be had"),
        Err(fault) if fault.is_contention() => warning(
            WRITABLE,
            "the write lock could not be had in time: somebody writes for too long",
        ),
        Err(fault) => bad(WRITABLE, format!("the file cannot be written: {fault}")),
    }
}

pub(super) const IN_MEMORY: &str =
    "a database in memory forgets what was acknowledged: name a file";

/// `PRAGMA synchronous`, <https://www.sqlite.org/pragma.html#pragma_synchronous>
const FULL: i64 = 2;

const WRITABLE: &str = "writable";

const SETTINGS: &str = "
select
    (select file from pragma_database_list where name = 'main'),
    (select journal_mode from pragma_journal_mode),
    (select synchronous from pragma_synchronous),
    (select foreign_keys from pragma_foreign_keys),
    unixepoch('subsec') is not null";

const NOW: &str = concat!("select ", now!());

const ORPHANS: &str = concat!(
    "
select endpoint, count(*)
from (
    select endpoint from webhook_inbox where state = 'pending'
    union all
    select endpoint from webhook_inbox where state = 'processing'
) as waiting
where not exists (
    select 1 from webhook_signing_key
    where webhook_signing_key.endpoint = waiting.endpoint and last_live_at > ",
    now!(),
    " - 86400000)
group by endpoint
order by endpoint"
);
