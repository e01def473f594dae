//! What is checked before the first event: durability, schema, keys.

use sqlx::SqliteConnection;
use webhook_core::KeyFingerprint;
use webhook_core::ledger::{LedgerError, Notice, Registration};

use super::{SqliteLedger, check, migrate};
use crate::checks;
use crate::stored::spent_key;

pub(super) async fn prepare(
    ledger: &SqliteLedger,
    registration: &Registration,
) -> Result<Vec<Notice>, LedgerError> {
    // What else is checked, was when each connection was opened.
    if let Some(clock) = &registration.clock {
        let mut conn = ledger.read().await?;
        let offset = check::offset(&mut conn, &**clock).await;
        checks::refuse(vec![conn.settle(offset)?])?;
    }
    migrate::migrate(ledger).await?;
    let mut conn = ledger.write().await?;
    let outcome = register(&mut conn, registration).await;
    if let Some(endpoint) = ledger.commit(conn, outcome).await? {
        return Err(spent_key(&endpoint));
    }
    ledger.served().set(registration);
    let served = ledger.served().names();
    let mut conn = ledger.read().await?;
    let outcome = notices(&mut conn, registration, &served).await;
    conn.settle(outcome)
}

/// Enter the keys of all endpoints. The endpoint of a spent one, which must not come back.
async fn register(
    conn: &mut SqliteConnection,
    registration: &Registration,
) -> Result<Option<String>, sqlx::Error> {
    let endpoints = registration.endpoints.iter();
    let keys: Vec<(&str, KeyFingerprint)> = endpoints
        .flat_map(|endpoint| {
            let keys = endpoint.keys.iter();
            keys.map(|key| (&*endpoint.name, *key))
        })
        .collect();
    enter(conn, &keys).await
}

/// Enter keys as live now. The endpoint of one that is spent: events it signed were forgotten.
pub(super) async fn enter(
    conn: &mut SqliteConnection,
    keys: &[(&str, KeyFingerprint)],
) -> Result<Option<String>, sqlx::Error> {
    let mut spent = None;
    for (endpoint, key) in keys {
        let is_spent: bool = sqlx::query_scalar(REGISTER)
            .bind(*endpoint)
            .bind(&key.as_bytes()[..])
            .fetch_one(&mut *conn)
            .await?;
        if is_spent {
            spent = Some((*endpoint).to_owned());
        }
    }
    Ok(spent)
}

async fn notices(
    conn: &mut SqliteConnection,
    registration: &Registration,
    served: &[String],
) -> Result<Vec<Notice>, sqlx::Error> {
    let mut notices = checks::orphans(check::orphans(conn, served).await?);
    for endpoint in &registration.endpoints {
        if endpoint.secret_is_shared {
            continue;
        }
        let mut others: Vec<String> = Vec::new();
        for key in &endpoint.keys {
            let found: Vec<String> = sqlx::query_scalar(OTHERS)
                .bind(&*endpoint.name)
                .bind(&key.as_bytes()[..])
                .fetch_all(&mut *conn)
                .await?;
            others.extend(found);
        }
        others.sort_unstable();
        others.dedup();
        notices.extend(others.into_iter().map(|other| Notice::SharedKey {
            endpoint: endpoint.name.to_string(),
            other,
        }));
    }
    Ok(notices)
}

const REGISTER: &str = concat!(
    "
insert into webhook_signing_key (endpoint, fingerprint) values (?1, ?2)
on conflict (endpoint, fingerprint) do update set
    last_live_at = case when pruned_at is null then ",
    now!(),
    " else last_live_at end
returning pruned_at is not null"
);

const OTHERS: &str = "
select endpoint
from webhook_signing_key
where fingerprint = ?2 and endpoint <> ?1 and pruned_at is null
order by endpoint";
