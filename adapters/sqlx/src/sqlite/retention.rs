//! Retention: what one endpoint need not remember any more.
//!
//! An event and the claim keys that lead to it go in one transaction: a key without its row and
//! without a tombstone would count as left over, and its event as new.

use std::time::Duration;

use sqlx::SqliteConnection;
use sqlx::types::Uuid;
use webhook_core::ledger::{IdentityRetention, LedgerError, Pruned, Retention};

use super::{SqliteLedger, prepare};
use crate::stored::millis;

/// In one transaction a step, so that others may write in between.
pub(super) async fn prune(ledger: &SqliteLedger, what: &Retention) -> Result<Pruned, LedgerError> {
    let mut conn = ledger.write().await?;
    let live: Vec<_> = what
        .live_keys
        .iter()
        .map(|key| (&*what.endpoint, *key))
        .collect();
    let outcome = prepare::enter(&mut conn, &live).await;
    if ledger.commit(conn, outcome).await?.is_some() {
        tracing::error!(
            endpoint = %what.endpoint,
            "a live key is registered as retired, and events it signed are forgotten: replace it"
        );
    }
    let mut pruned = Pruned::default();
    for statement in [DROP_OTHERS, DROP_QUARANTINED] {
        let dropped = run(ledger, statement, what, what.other_payloads).await?;
        pruned.payloads = pruned.payloads.saturating_add(dropped);
    }
    let completed = async || run(ledger, DROP_COMPLETED, what, what.completed_payloads).await;
    let decided = what.settled_quarantine;
    match what.identities {
        IdentityRetention::For(age) => {
            pruned.decisions = run(ledger, FORGET_DECISIONS, what, decided.max(age)).await?;
            let mut conn = ledger.write().await?;
            let outcome = forget(&mut conn, what, age).await;
            pruned.forgotten = ledger.commit(conn, outcome).await?;
            pruned.payloads = pruned.payloads.saturating_add(completed().await?);
        }
        IdentityRetention::Forever => {
            pruned.payloads = pruned.payloads.saturating_add(completed().await?);
        }
        IdentityRetention::WhileKeysLive(grace) => {
            let mut conn = ledger.write().await?;
            let outcome = bury(&mut conn, what).await;
            pruned.buried = ledger.commit(conn, outcome).await?;
            let mut conn = ledger.write().await?;
            let outcome = forget_tombstones(&mut conn, what, grace).await;
            pruned.forgotten = ledger.commit(conn, outcome).await?;
            pruned.decisions = run(ledger, FORGET_SPENT_DECISIONS, what, decided).await?;
        }
    }
    Ok(pruned)
}

/// How many rows a statement touched whose arguments are an endpoint, an age and a batch.
async fn run(
    ledger: &SqliteLedger,
    statement: &'static str,
    what: &Retention,
    age: Duration,
) -> Result<u64, LedgerError> {
    let mut conn = ledger.write().await?;
    let outcome = sqlx::query(statement)
        .bind(&*what.endpoint)
        .bind(millis(age))
        .bind(i64::from(what.batch))
        .execute(&mut *conn)
        .await;
    let outcome = outcome.map(|touched| touched.rows_affected());
    ledger.commit(conn, outcome).await
}

async fn forget(
    conn: &mut SqliteConnection,
    what: &Retention,
    age: Duration,
) -> Result<u64, sqlx::Error> {
    let seen = Some(millis(age));
    let mut forgotten = 0u64;
    for (id, keys) in old(conn, what, age, seen).await? {
        for key in keys.into_iter().flatten() {
            sqlx::query("delete from webhook_claim where key = ?1 and inbox = ?2")
                .bind(key)
                .bind(id)
                .execute(&mut *conn)
                .await?;
        }
        delete(conn, id).await?;
        forgotten = forgotten.saturating_add(1);
    }
    Ok(forgotten)
}

async fn bury(conn: &mut SqliteConnection, what: &Retention) -> Result<u64, sqlx::Error> {
    let mut buried = 0u64;
    for (id, keys) in old(conn, what, what.completed_payloads, None).await? {
        for key in keys.into_iter().flatten() {
            sqlx::query(BURY)
                .bind(key)
                .bind(id)
                .execute(&mut *conn)
                .await?;
        }
        delete(conn, id).await?;
        buried = buried.saturating_add(1);
    }
    Ok(buried)
}

async fn delete(conn: &mut SqliteConnection, id: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query("delete from webhook_inbox where id = ?1")
        .bind(id)
        .execute(conn)
        .await
        .map(drop)
}

/// Completed events that were settled this long ago, and last seen so too if that is asked for, with
/// the keys that lead to them.
async fn old(
    conn: &mut SqliteConnection,
    what: &Retention,
    age: Duration,
    seen: Option<i64>,
) -> Result<Vec<(Uuid, [Option<Vec<u8>>; 2])>, sqlx::Error> {
    let rows: Vec<(Uuid, Vec<u8>, Option<Vec<u8>>)> = sqlx::query_as(OLD)
        .bind(&*what.endpoint)
        .bind(millis(age))
        .bind(i64::from(what.batch))
        .bind(seen.unwrap_or(0))
        .fetch_all(conn)
        .await?;
    Ok(rows
        .into_iter()
        .map(|(id, id_key, digest_key)| (id, [Some(id_key), digest_key]))
        .collect())
}

/// Forget what keys signed that are gone for good, and mark them as spent.
async fn forget_tombstones(
    conn: &mut SqliteConnection,
    what: &Retention,
    grace: Duration,
) -> Result<u64, sqlx::Error> {
    let gone: Vec<Vec<u8>> = sqlx::query_scalar(GONE_KEYS)
        .bind(&*what.endpoint)
        .bind(millis(grace))
        .fetch_all(&mut *conn)
        .await?;
    let mut left = u64::from(what.batch);
    for fingerprint in gone {
        let forgotten = sqlx::query(FORGET_TOMBSTONES)
            .bind(&fingerprint)
            .bind(i64::try_from(left).unwrap_or(i64::MAX))
            .execute(&mut *conn)
            .await?
            .rows_affected();
        if forgotten > 0 {
            sqlx::query(SPEND)
                .bind(&fingerprint)
                .execute(&mut *conn)
                .await?;
        }
        left = left.saturating_sub(forgotten);
    }
    Ok(u64::from(what.batch).saturating_sub(left))
}

const DROP_COMPLETED: &str = concat!(
    "
update webhook_inbox set payload = null, headers = null
where id in (
    select id from webhook_inbox
    where endpoint = ?1 and state not in ('pending', 'processing') and payload is not null
      and state = 'completed' and settled_at < ",
    now!(),
    " - ?2
    order by settled_at limit ?3)"
);

const DROP_OTHERS: &str = concat!(
    "
update webhook_inbox set payload = null, headers = null
where id in (
    select id from webhook_inbox
    where endpoint = ?1 and state not in ('pending', 'processing') and payload is not null
      and state in ('dead', 'ignored') and settled_at < ",
    now!(),
    " - ?2
    order by settled_at limit ?3)"
);

const DROP_QUARANTINED: &str = concat!(
    "
update webhook_quarantine set payload = null, headers = null
where id in (
    select id from webhook_quarantine
    where endpoint = ?1 and released_at is not null and payload is not null
      and released_at < ",
    now!(),
    " - ?2
    order by released_at limit ?3)"
);

/// Not before its identity may go: what was decided on once is not asked again while it can come again.
const FORGET_DECISIONS: &str = concat!(
    "
delete from webhook_quarantine
where id in (
    select id from webhook_quarantine
    where endpoint = ?1 and released_at is not null
      and released_at < ",
    now!(),
    " - ?2 and last_seen_at < ",
    now!(),
    " - ?2
    order by released_at limit ?3)"
);

/// Those whose key is refused by now.
const FORGET_SPENT_DECISIONS: &str = concat!(
    "
delete from webhook_quarantine
where id in (
    select id from webhook_quarantine
    where endpoint = ?1 and released_at is not null
      and released_at < ",
    now!(),
    " - ?2 and last_seen_at < ",
    now!(),
    " - ?2
      and exists (
        select 1 from webhook_signing_key
        where webhook_signing_key.endpoint = ?1
          and fingerprint = webhook_quarantine.key_fingerprint and pruned_at is not null)
    order by released_at limit ?3)"
);

/// Spent ones, whose payload is gone, and others.
const OLD: &str = concat!(
    "
select * from (
    select id, id_key, digest_key from webhook_inbox
    where endpoint = ?1 and state not in ('pending', 'processing') and payload is null
      and state = 'completed'
      and settled_at < ",
    now!(),
    " - ?2 and last_seen_at <= ",
    now!(),
    " - ?4
    order by settled_at limit ?3)
union all
select * from (
    select id, id_key, digest_key from webhook_inbox
    where endpoint = ?1 and state not in ('pending', 'processing') and payload is not null
      and state = 'completed'
      and settled_at < ",
    now!(),
    " - ?2 and last_seen_at <= ",
    now!(),
    " - ?4
    order by settled_at limit ?3)
limit ?3"
);

/// A tombstone is a claim key that remembers a digest and needs no row.
const BURY: &str = concat!(
    "
update webhook_claim set
    pruned_at = ",
    now!(),
    ",
    digest = (select coalesce(canonical, digest) from webhook_inbox where id = ?2)
where key = ?1 and inbox = ?2"
);

const GONE_KEYS: &str = concat!(
    "
select fingerprint from webhook_signing_key as known
where endpoint = ?1
group by fingerprint
having (
    select max(last_live_at) from webhook_signing_key where fingerprint = known.fingerprint
) < ",
    now!(),
    " - ?2"
);

const FORGET_TOMBSTONES: &str = "
delete from webhook_claim
where key in (
    select key from webhook_claim
    where pruned_at is not null and key_fingerprint = ?1
    limit ?2)";

const SPEND: &str = concat!(
    "update webhook_signing_key set pruned_at = coalesce(pruned_at, ",
    now!(),
    ") where fingerprint = ?1"
);
