//! Retention: what one endpoint need not remember any more.
//!
//! An event and the claim keys that lead to it go in one statement: a key without its row and
//! without a tombstone would count as left over, and its event as new.

use std::time::Duration;

use sqlx::PgConnection;
use webhook_core::ledger::{IdentityRetention, Pruned, Retention};

use super::prepare;
use crate::stored::millis;

pub(super) async fn prune(
    conn: &mut PgConnection,
    what: &Retention,
) -> Result<Pruned, sqlx::Error> {
    let live: Vec<_> = what
        .live_keys
        .iter()
        .map(|key| (&*what.endpoint, *key))
        .collect();
    if prepare::enter(conn, &live).await?.is_some() {
        tracing::error!(
            endpoint = %what.endpoint,
            "a live key is registered as retired, and events it signed are forgotten: replace it"
        );
    }
    let mut pruned = Pruned::default();
    let others = [DROP_OTHERS, DROP_QUARANTINED];
    for statement in others {
        let dropped = run(conn, statement, what, what.other_payloads).await?;
        pruned.payloads = pruned.payloads.saturating_add(dropped);
    }
    let decided = what.settled_quarantine;
    match what.identities {
        IdentityRetention::For(age) => {
            pruned.decisions = run(conn, FORGET_DECISIONS, what, decided.max(age)).await?;
            pruned.forgotten = run(conn, FORGET, what, age).await?;
            let dropped = run(conn, DROP_COMPLETED, what, what.completed_payloads).await?;
            pruned.payloads = pruned.payloads.saturating_add(dropped);
        }
        IdentityRetention::Forever => {
            let dropped = run(conn, DROP_COMPLETED, what, what.completed_payloads).await?;
            pruned.payloads = pruned.payloads.saturating_add(dropped);
        }
        IdentityRetention::WhileKeysLive(grace) => {
            pruned.buried = run(conn, BURY, what, what.completed_payloads).await?;
            pruned.forgotten = run(conn, FORGET_TOMBSTONES, what, grace).await?;
            pruned.decisions = run(conn, FORGET_SPENT_DECISIONS, what, decided).await?;
        }
    }
    if pruned.is_nothing() {
        sqlx::query(DROP_HEADS)
            .bind(i64::from(what.batch))
            .execute(conn)
            .await?;
    }
    Ok(pruned)
}

/// How many rows a statement touched whose arguments are an endpoint, an age and a batch.
async fn run(
    conn: &mut PgConnection,
    statement: &'static str,
    what: &Retention,
    age: Duration,
) -> Result<u64, sqlx::Error> {
    let touched: i64 = sqlx::query_scalar(statement)
        .bind(&*what.endpoint)
        .bind(millis(age))
        .bind(i64::from(what.batch))
        .fetch_one(conn)
        .await?;
    Ok(touched.unsigned_abs())
}

const DROP_COMPLETED: &str = "
with old as materialized (
    select id from webhook.inbox
    where endpoint = $1 and state = 'completed' and payload is not null
      and settled_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
    order by settled_at
    limit $3
    for update skip locked
),
dropped as (
    update webhook.inbox set payload = null, headers = null
    where id = any(array(select id from old))
    returning id
)
select pg_catalog.count(*) from dropped";

const DROP_OTHERS: &str = "
with old as materialized (
    select id from webhook.inbox
    where endpoint = $1 and state in ('dead', 'ignored') and payload is not null
      and settled_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
    order by settled_at
    limit $3
    for update skip locked
),
dropped as (
    update webhook.inbox set payload = null, headers = null
    where id = any(array(select id from old))
    returning id
)
select pg_catalog.count(*) from dropped";

const DROP_QUARANTINED: &str = "
with old as materialized (
    select id from webhook.quarantine
    where endpoint = $1 and released_at is not null and payload is not null
      and released_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
    order by released_at
    limit $3
    for update skip locked
),
dropped as (
    update webhook.quarantine set payload = null, headers = null
    where id = any(array(select id from old))
    returning id
)
select pg_catalog.count(*) from dropped";

/// Not before its identity may go: what was decided on once is not asked again while it can come again.
const FORGET_DECISIONS: &str = "
with old as materialized (
    select id from webhook.quarantine
    where endpoint = $1 and released_at is not null
      and released_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
      and last_seen_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
    order by released_at
    limit $3
    for update skip locked
),
forgotten as (
    delete from webhook.quarantine where id = any(array(select id from old))
    returning id
)
select pg_catalog.count(*) from forgotten";

/// Those whose key is refused by now.
const FORGET_SPENT_DECISIONS: &str = "
with old as materialized (
    select id from webhook.quarantine
    where endpoint = $1 and released_at is not null
      and released_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
      and last_seen_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
      and exists (
        select from webhook.signing_key
        where signing_key.endpoint = $1 and fingerprint = quarantine.key_fingerprint
          and pruned_at is not null
        offset 0)
    order by released_at
    limit $3
    for update skip locked
),
forgotten as (
    delete from webhook.quarantine where id = any(array(select id from old))
    returning id
)
select pg_catalog.count(*) from forgotten";

/// Spent ones, whose payload is gone, and others where identities are forgotten before payloads.
const FORGET: &str = "
with spent as materialized (
    select id, id_key, digest_key from webhook.inbox
    where endpoint = $1 and state = 'completed' and payload is null
      and settled_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
      and last_seen_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
    order by settled_at
    limit $3
    for update skip locked
),
whole as materialized (
    select id, id_key, digest_key from webhook.inbox
    where endpoint = $1 and state = 'completed' and payload is not null
      and settled_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
      and last_seen_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
    order by settled_at
    limit $3
    for update skip locked
),
gone as materialized (
    select * from spent union all select * from whole limit $3
),
keys as materialized (
    select unnest(array[id_key, digest_key]) as key, id from gone
),
freed as (
    delete from webhook.claim using keys
    where claim.key = any(array(select key from keys))
      and claim.key = keys.key and claim.inbox = keys.id
),
forgotten as (
    delete from webhook.inbox where id = any(array(select id from gone))
    returning id
)
select pg_catalog.count(*) from forgotten";

/// A tombstone is a claim key that remembers a digest and needs no row.
const BURY: &str = "
with spent as materialized (
    select id, id_key, digest_key, coalesce(canonical, digest) as digest from webhook.inbox
    where endpoint = $1 and state = 'completed' and payload is null
      and settled_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
    order by settled_at
    limit $3
    for update skip locked
),
whole as materialized (
    select id, id_key, digest_key, coalesce(canonical, digest) as digest from webhook.inbox
    where endpoint = $1 and state = 'completed' and payload is not null
      and settled_at
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
    order by settled_at
    limit $3
    for update skip locked
),
gone as materialized (
    select * from spent union all select * from whole limit $3
),
keys as materialized (
    select unnest(array[id_key, digest_key]) as key, id, digest from gone
),
tombstones as (
    update webhook.claim set pruned_at = pg_catalog.clock_timestamp(), digest = keys.digest
    from keys
    where claim.key = any(array(select key from keys))
      and claim.key = keys.key and claim.inbox = keys.id
),
buried as (
    delete from webhook.inbox where id = any(array(select id from gone))
    returning id
)
select pg_catalog.count(*) from buried";

/// A key's rows are locked first, and read again then: who enters it at the same time either keeps
/// its tombstones or is told that it is spent.
const FORGET_TOMBSTONES: &str = "
with known as materialized (
    select endpoint, fingerprint, last_live_at from webhook.signing_key
    where fingerprint in (
        select fingerprint from webhook.signing_key
        where endpoint = $1 and last_live_at
            < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond')
    order by endpoint, fingerprint
    for update
),
gone_key as materialized (
    select fingerprint from known
    group by fingerprint
    having pg_catalog.max(last_live_at)
        < (select pg_catalog.clock_timestamp()) - $2::bigint * interval '1 millisecond'
),
forgotten as (
    delete from webhook.claim
    where key = any(array(
        select key from webhook.claim
        where pruned_at is not null
          and key_fingerprint = any(array(select fingerprint from gone_key))
        order by key_fingerprint
        limit $3
        for update skip locked))
    returning key_fingerprint
),
spent as (
    update webhook.signing_key set pruned_at = coalesce(pruned_at, pg_catalog.clock_timestamp())
    where fingerprint = any(array(select key_fingerprint from forgotten))
)
select pg_catalog.count(*) from forgotten";

/// A head can go at any time: whoever claims next makes it anew, and `seq` goes on.
const DROP_HEADS: &str = "
delete from webhook.order_head
where order_key = any(array(
    select order_key from webhook.order_head
    where last_at < pg_catalog.clock_timestamp() - interval '1 day'
    order by order_key
    limit $1
    for update skip locked))";
