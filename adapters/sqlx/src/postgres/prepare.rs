//! What is checked before the first event: durability, schema, keys.

use sqlx::PgConnection;
use webhook_core::KeyFingerprint;
use webhook_core::ledger::{LedgerError, Notice, Registration};

use super::{PostgresLedger, migrate};
use crate::error::ledger_error;
use crate::stored::spent_key;

pub(super) async fn prepare(
    ledger: &PostgresLedger,
    registration: &Registration,
) -> Result<Vec<Notice>, LedgerError> {
    // Handlers' connections get the same settings; one look at each pool shows that they arrive.
    let mut handlers = ledger.lend_to_handler().await?;
    check(&mut handlers).await?;
    handlers.give_back();
    let mut conn = ledger.lend().await?;
    check(&mut conn).await?;
    migrate::migrate(&mut conn).await?;
    register(&mut conn, registration).await?;
    let outcome = notices(&mut conn, registration).await;
    conn.settle(outcome)
}

/// Refuse a server that loses what it acknowledged, or that undoes our settings.
async fn check(conn: &mut PgConnection) -> Result<(), LedgerError> {
    for (name, is_fit, advice) in REQUIRED {
        let value: String = sqlx::query_scalar("select pg_catalog.current_setting($1)")
            .bind(name)
            .fetch_one(&mut *conn)
            .await
            .map_err(ledger_error)?;
        if !is_fit(&value) {
            return Err(LedgerError::unfit(format!(
                "`{name}` is `{value}`: {advice}"
            )));
        }
    }
    Ok(())
}

/// Enter the keys of all endpoints; a spent one must not come back.
async fn register(conn: &mut PgConnection, registration: &Registration) -> Result<(), LedgerError> {
    let endpoints = registration.endpoints.iter();
    let keys: Vec<(&str, KeyFingerprint)> = endpoints
        .flat_map(|endpoint| {
            let keys = endpoint.keys.iter();
            keys.map(|key| (&*endpoint.name, *key))
        })
        .collect();
    match enter(conn, &keys).await.map_err(ledger_error)? {
        None => Ok(()),
        Some(endpoint) => Err(spent_key(&endpoint)),
    }
}

/// Enter keys as live now. The endpoint of one that is spent: events it signed were forgotten.
pub(super) async fn enter(
    conn: &mut PgConnection,
    keys: &[(&str, KeyFingerprint)],
) -> Result<Option<String>, sqlx::Error> {
    let mut keys: Vec<(&str, Vec<u8>)> = keys
        .iter()
        .map(|(endpoint, key)| (*endpoint, key.as_bytes().to_vec()))
        .collect();
    // In one order, lest two that enter at once wait for each other.
    keys.sort_unstable();
    keys.dedup();
    let (endpoints, fingerprints): (Vec<&str>, Vec<Vec<u8>>) = keys.into_iter().unzip();
    let entered: Vec<(String, bool)> = sqlx::query_as(REGISTER)
        .bind(endpoints)
        .bind(fingerprints)
        .fetch_all(conn)
        .await?;
    let spent = entered.into_iter().find(|(_, is_spent)| *is_spent);
    Ok(spent.map(|(endpoint, _)| endpoint))
}

async fn notices(
    conn: &mut PgConnection,
    registration: &Registration,
) -> Result<Vec<Notice>, sqlx::Error> {
    let names: Vec<&str> = registration
        .endpoints
        .iter()
        .map(|endpoint| &*endpoint.name)
        .collect();
    let orphans: Vec<(String, i64)> = sqlx::query_as(ORPHANS)
        .bind(names)
        .fetch_all(&mut *conn)
        .await?;
    let mut notices: Vec<Notice> = orphans
        .into_iter()
        .map(|(endpoint, waiting)| Notice::Orphans {
            endpoint,
            waiting: waiting.unsigned_abs(),
        })
        .collect();
    for endpoint in &registration.endpoints {
        if endpoint.secret_is_shared {
            continue;
        }
        let keys: Vec<Vec<u8>> = endpoint
            .keys
            .iter()
            .map(|key| key.as_bytes().to_vec())
            .collect();
        let others: Vec<String> = sqlx::query_scalar(OTHERS)
            .bind(&*endpoint.name)
            .bind(keys)
            .fetch_all(&mut *conn)
            .await?;
        notices.extend(others.into_iter().map(|other| Notice::SharedKey {
            endpoint: endpoint.name.to_string(),
            other,
        }));
    }
    Ok(notices)
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

const REGISTER: &str = "
insert into webhook.signing_key as known (endpoint, fingerprint)
select * from unnest($1::text[], $2::bytea[])
on conflict (endpoint, fingerprint) do update set
    last_live_at = case when known.pruned_at is null
        then pg_catalog.clock_timestamp() else known.last_live_at end
returning endpoint, pruned_at is not null";

const ORPHANS: &str = "
select endpoint, pg_catalog.count(*)
from webhook.inbox
where state in ('pending', 'processing') and endpoint <> all($1)
group by endpoint
order by endpoint";

const OTHERS: &str = "
select distinct endpoint
from webhook.signing_key
where fingerprint = any($2) and endpoint <> $1 and pruned_at is null
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
