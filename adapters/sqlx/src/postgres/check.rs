//! What the server is found to be: at start, where what is bad is refused, and whenever asked.

use sqlx::PgConnection;
use webhook_core::Clock;
use webhook_core::ledger::{Check, LedgerError};

use super::{PostgresLedger, migrate};
use crate::checks::{self, Reading, bad, good};

/// Everything there is to look at.
pub(super) async fn all(
    ledger: &PostgresLedger,
    clock: &dyn Clock,
) -> Result<Vec<Check>, LedgerError> {
    let mut conn = ledger.lend().await?;
    let served = ledger.served().names();
    let outcome = look(&mut conn, clock, &served).await;
    conn.settle(outcome)
}

async fn look(
    conn: &mut PgConnection,
    clock: &dyn Clock,
    served: &[String],
) -> Result<Vec<Check>, sqlx::Error> {
    let mut checks = settings(conn).await?;
    // Its server tells nobody.
    checks.push(checks::room(None));
    checks.push(offset(conn, clock).await?);
    let schema = migrate::check(conn).await?;
    let is_usable = schema.verdict == webhook_core::ledger::CheckVerdict::Good;
    checks.push(schema);
    if is_usable {
        checks.push(checks::waiting(&orphans(conn, served).await?));
    }
    Ok(checks)
}

/// Endpoints that events wait for, served neither here nor, as far as its keys tell, by anybody, and how
/// many there are.
pub(super) async fn orphans(
    conn: &mut PgConnection,
    served: &[String],
) -> Result<Vec<(String, i64)>, sqlx::Error> {
    sqlx::query_as(ORPHANS).bind(served).fetch_all(conn).await
}

/// Whether the server keeps what it acknowledges, and whether this session is as we asked for.
pub(super) async fn settings(conn: &mut PgConnection) -> Result<Vec<Check>, sqlx::Error> {
    let mut checks = Vec::with_capacity(REQUIRED.len());
    for (name, is_fit, advice) in REQUIRED {
        // A server too old to know a setting is found out by its version.
        let value: Option<String> =
            sqlx::query_scalar("select pg_catalog.current_setting($1, true)")
                .bind(name)
                .fetch_one(&mut *conn)
                .await?;
        let value = value.unwrap_or_default();
        checks.push(if is_fit(&value) {
            good(name, format!("`{name}` is `{value}`"))
        } else {
            bad(name, format!("`{name}` is `{value}`: {advice}"))
        });
    }
    Ok(checks)
}

/// How far `clock` is from the server's.
pub(super) async fn offset(
    conn: &mut PgConnection,
    clock: &dyn Clock,
) -> Result<Check, sqlx::Error> {
    let reading = Reading::begin(clock);
    let store: i64 = sqlx::query_scalar(NOW).fetch_one(conn).await?;
    Ok(reading.end(store))
}

type Requirement = (&'static str, fn(&str) -> bool, &'static str);

const REQUIRED: [Requirement; 9] = [
    (
        "server_version_num",
        |value| value.parse().is_ok_and(|version: u32| version >= 140_000),
        "PostgreSQL 14 or later is needed",
    ),
    (
        "in_hot_standby",
        |value| value == "off",
        "connect to the primary",
    ),
    (
        "server_encoding",
        |value| value == "UTF8",
        "create the database with encoding UTF8",
    ),
    (
        "fsync",
        |value| value == "on",
        "acknowledged events would be lost with the power; set it to `on`",
    ),
    (
        "full_page_writes",
        |value| value == "on",
        "a torn page would lose acknowledged events; set it to `on`",
    ),
    (
        "synchronous_commit",
        |value| value == "on",
        "the ledger asks for `on` when it connects and something between drops that",
    ),
    (
        "default_transaction_isolation",
        |value| value == "read committed",
        "the ledger asks for `read committed` when it connects and something between drops that",
    ),
    (
        "default_transaction_read_only",
        |value| value == "off",
        "the ledger asks for `off` when it connects and something between drops that",
    ),
    // Not its default: a pooler that drops what is asked for shows here.
    (
        "idle_in_transaction_session_timeout",
        |value| value == "30s",
        "the ledger asks for `30s` when it connects and something between drops that",
    ),
];

const NOW: &str = "
select pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint";

const ORPHANS: &str = "
select endpoint, pg_catalog.count(*)
from (
    select endpoint from webhook.inbox where state = 'pending'
    union all
    select endpoint from webhook.inbox where state = 'processing'
) as waiting
where endpoint <> all($1) and not exists (
    select from webhook.signing_key
    where signing_key.endpoint = waiting.endpoint
      and last_live_at > pg_catalog.clock_timestamp() - interval '1 day'
    offset 0)
group by endpoint
order by endpoint";

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fit(name: &str, value: &str) -> bool {
        REQUIRED
            .iter()
            .filter(|(required, ..)| *required == name)
            .all(|(_, is_fit, _)| is_fit(value))
    }

    #[test]
    fn f10_a_server_that_forgets_is_unfit() {
        assert!(is_fit("fsync", "on") && !is_fit("fsync", "off"));
        assert!(is_fit("full_page_writes", "on") && !is_fit("full_page_writes", "off"));
        for weak in ["off", "local", "remote_write"] {
            assert!(!is_fit("synchronous_commit", weak));
        }
    }

    #[test]
    fn old_servers_and_other_encodings_are_unfit() {
        assert!(is_fit("server_version_num", "140000"));
        assert!(!is_fit("server_version_num", "130014"));
        assert!(is_fit("server_encoding", "UTF8") && !is_fit("server_encoding", "SQL_ASCII"));
        assert!(!is_fit("default_transaction_isolation", "repeatable read"));
    }
}
