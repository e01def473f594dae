//! What is checked before the first event: durability, schema, keys.

use sqlx::PgConnection;
use webhook_core::KeyFingerprint;
use webhook_core::ledger::{LedgerError, Notice, Registration};

use super::{PostgresLedger, check, migrate};
use crate::checks;
use crate::error::ledger_error;
use crate::stored::spent_key;

pub(super) async fn prepare(
    ledger: &PostgresLedger,
    registration: &Registration,
) -> Result<Vec<Notice>, LedgerError> {
    // Handlers' connections get the same settings; one look at each pool shows that they arrive.
    let mut handlers = ledger.lend_to_handler().await?;
    let outcome = check::settings(&mut handlers).await;
    checks::refuse(handlers.settle(outcome)?)?;
    let mut conn = ledger.lend().await?;
    let settings = check::settings(&mut conn).await.map_err(ledger_error)?;
    checks::refuse(settings)?;
    if let Some(clock) = &registration.clock {
        let offset = check::offset(&mut conn, &**clock).await;
        checks::refuse(vec![offset.map_err(ledger_error)?])?;
    }
    migrate::migrate(&mut conn).await?;
    register(&mut conn, registration).await?;
    ledger.served().set(registration);
    let served = ledger.served().names();
    let outcome = notices(&mut conn, registration, &served).await;
    conn.settle(outcome)
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
    served: &[String],
) -> Result<Vec<Notice>, sqlx::Error> {
    let mut notices = checks::orphans(check::orphans(conn, served).await?);
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

const REGISTER: &str = "
insert into webhook.signing_key as known (endpoint, fingerprint)
select * from unnest($1::text[], $2::bytea[])
on conflict (endpoint, fingerprint) do update set
    last_live_at = case when known.pruned_at is null
        then pg_catalog.clock_timestamp() else known.last_live_at end
returning endpoint, pruned_at is not null";

const OTHERS: &str = "
select distinct endpoint
from webhook.signing_key
where fingerprint = any($2) and endpoint <> $1 and pruned_at is null
order by endpoint";
