//! Claims: all keys of a batch in one statement, losers judged by a second one.

use std::collections::HashSet;
use std::sync::Arc;

use sqlx::types::Uuid;
use sqlx::{PgConnection, Postgres};
use webhook_core::ledger::LedgerError;
use webhook_core::{Claim, ClaimKey, NewEvent, Verdict, fault_point};

use super::{PostgresLedger, quarantine};
use crate::batch::Turn;
use crate::error::{StoreFault, contention};
use crate::executor::Lent;
use crate::stored::{CLAIM_ROUNDS, Holders, KeyRow, new_id, uuid};

/// Claim the events of deliveries that came at the same time.
///
/// Those that share a statement do so on a connection that waits for nobody's lock for long: if one of
/// them meets somebody's open transaction, the others must not stand behind it.
pub(super) async fn claim_together(
    ledger: &PostgresLedger,
    deliveries: &[Arc<[NewEvent]>],
    turn: Turn,
) -> Result<Vec<Vec<Claim>>, LedgerError> {
    fault_point!("claim.begin", error => return Err(crate::error::ledger_error(error.into())));
    let conn = match turn {
        Turn::Aside => ledger.lend().await?,
        Turn::Lane => ledger.lend_to_batch().await?,
    };
    if let [alone] = deliveries {
        let claims = claim(conn, alone).await?;
        ledger.tell(alone, &claims);
        return Ok(vec![claims]);
    }
    let events: Vec<NewEvent> = deliveries
        .iter()
        .flat_map(|events| events.iter().cloned())
        .collect();
    let claims = claim(conn, &events).await?;
    ledger.tell(&events, &claims);
    let mut claims = claims.into_iter();
    let shares = deliveries
        .iter()
        .map(|events| claims.by_ref().take(events.len()).collect());
    Ok(shares.collect())
}

/// Claim `events` and store those that were won.
async fn claim(mut conn: Lent<Postgres>, events: &[NewEvent]) -> Result<Vec<Claim>, LedgerError> {
    let outcome = try_claim(&mut conn, events).await;
    let claims = conn.settle(outcome)?;
    fault_point!("claim.done", error => return Err(crate::error::ledger_error(error.into())));
    claims.ok_or_else(|| contention(StoreFault::Unsettled))
}

/// `None` if a key changed hands in every round.
async fn try_claim(
    conn: &mut PgConnection,
    events: &[NewEvent],
) -> Result<Option<Vec<Claim>>, sqlx::Error> {
    let mut claims: Vec<Option<Claim>> = vec![None; events.len()];
    for _ in 0..CLAIM_ROUNDS {
        let contenders = contenders(events, &claims);
        if contenders.is_empty() {
            break;
        }
        for position in insert_pending(conn, events, &contenders).await? {
            if let Some(claim) = claims.get_mut(position) {
                *claim = Some(Claim::Stored);
            }
        }
        judge(conn, events, &mut claims).await?;
    }
    Ok(claims.into_iter().collect())
}

/// Undecided events that share no key with an undecided one before them.
fn contenders(events: &[NewEvent], claims: &[Option<Claim>]) -> Vec<usize> {
    let mut taken: HashSet<ClaimKey> = HashSet::new();
    let undecided = events.iter().zip(claims).enumerate();
    undecided
        .filter(|(_, (_, claim))| claim.is_none())
        .filter(|(_, (event, _))| {
            let keys = event.keys();
            let is_free = keys.iter().all(|key| !taken.contains(key));
            taken.extend(keys);
            is_free
        })
        .map(|(position, _)| position)
        .collect()
}

/// Insert the keys and rows of events at `positions`; those that won all their keys are returned.
async fn insert_pending(
    conn: &mut PgConnection,
    events: &[NewEvent],
    positions: &[usize],
) -> Result<Vec<usize>, sqlx::Error> {
    let batch: Vec<(Uuid, &NewEvent)> = positions
        .iter()
        .filter_map(|position| Some((new_id(), events.get(*position)?)))
        .collect();
    let won = insert(conn, &batch, None).await?;
    let won: HashSet<Uuid> = won.into_iter().map(|(id, _)| id).collect();
    let pairs = positions.iter().zip(&batch);
    Ok(pairs
        .filter(|(_, (id, _))| won.contains(id))
        .map(|(position, _)| *position)
        .collect())
}

/// Insert keys and rows. `inline` holds token and milliseconds of a lease that starts at once.
/// Ids and arrival times, in Unix seconds, of the events that won all their keys.
pub(super) async fn insert(
    conn: &mut PgConnection,
    batch: &[(Uuid, &NewEvent)],
    inline: Option<(i64, i64)>,
) -> Result<Vec<(Uuid, i64)>, sqlx::Error> {
    fn column<'a, T>(batch: &[(Uuid, &'a NewEvent)], value: impl Fn(&'a NewEvent) -> T) -> Vec<T> {
        batch.iter().map(|(_, event)| value(event)).collect()
    }
    let ids: Vec<Uuid> = batch.iter().map(|(id, _)| *id).collect();
    let headers = column(batch, |event| event.headers().to_json());
    sqlx::query_as(INSERT)
        .bind(ids)
        .bind(column(batch, |event| event.id_key().as_bytes().to_vec()))
        .bind(column(batch, |event| {
            event.digest_key().map(|key| key.as_bytes().to_vec())
        }))
        .bind(column(batch, |event| &**event.endpoint()))
        .bind(column(batch, NewEvent::principal))
        .bind(column(batch, NewEvent::account))
        .bind(column(batch, |event| event.id().as_str()))
        .bind(column(batch, |event| event.event_type().as_str()))
        .bind(column(batch, |event| event.digest().as_bytes().to_vec()))
        .bind(column(batch, |event| {
            event.key_fingerprint().as_bytes().to_vec()
        }))
        .bind(column(batch, NewEvent::key_id))
        .bind(column(batch, NewEvent::signed_at))
        .bind(headers)
        .bind(column(batch, |event| &event.payload()[..]))
        .bind(inline.map(|(token, _)| token))
        .bind(inline.map_or(0, |(_, lease)| lease))
        .bind(column(batch, |event| event.first_state().as_str()))
        .bind(column(batch, NewEvent::first_error))
        .bind(column(batch, |event| {
            // Its handler runs now, before any that waits.
            let key = event.order_key().filter(|_| inline.is_none());
            key.map(|key| key.as_bytes().to_vec())
        }))
        .fetch_all(conn)
        .await
}

/// Decide the events that are still undecided and whose keys somebody holds.
async fn judge(
    conn: &mut PgConnection,
    events: &[NewEvent],
    claims: &mut [Option<Claim>],
) -> Result<(), sqlx::Error> {
    let undecided: Vec<usize> = (0..claims.len())
        .filter(|position| claims.get(*position).is_some_and(Option::is_none))
        .collect();
    if undecided.is_empty() {
        return Ok(());
    }
    let mut holders = holders(conn, events, &undecided).await?;
    for position in undecided {
        if let (Some(event), Some(claim), Some(holders)) = (
            events.get(position),
            claims.get_mut(position),
            holders.get_mut(position),
        ) {
            *claim = settle(conn, event, std::mem::take(holders)).await?;
        }
    }
    Ok(())
}

/// Read who holds the keys of the events at `positions`; one entry for each of `events`.
async fn holders(
    conn: &mut PgConnection,
    events: &[NewEvent],
    positions: &[usize],
) -> Result<Vec<Holders>, sqlx::Error> {
    let (mut ordinals, mut keys, mut digests) = (Vec::new(), Vec::new(), Vec::new());
    for position in positions {
        let Some(event) = events.get(*position) else {
            continue;
        };
        for key in event.keys() {
            ordinals.push(i64::try_from(*position).unwrap_or(i64::MAX));
            keys.push(key.as_bytes().to_vec());
            digests.push(event.digest().as_bytes().to_vec());
        }
    }
    let rows: Vec<KeyRow> = sqlx::query_as(HOLDERS)
        .bind(ordinals)
        .bind(keys)
        .bind(digests)
        .fetch_all(conn)
        .await?;
    let mut holders: Vec<Holders> = Vec::new();
    holders.resize_with(events.len(), Holders::default);
    for row in rows {
        let position = usize::try_from(row.position).unwrap_or(usize::MAX);
        if let (Some(event), Some(holders)) = (events.get(position), holders.get_mut(position)) {
            holders.add(event, row)?;
        }
    }
    Ok(holders)
}

/// Act on the verdict over a lost claim. `None`: nobody holds the keys now, claim again.
async fn settle(
    conn: &mut PgConnection,
    event: &NewEvent,
    holders: Holders,
) -> Result<Option<Claim>, sqlx::Error> {
    for (key, inbox) in &holders.orphans {
        sqlx::query(DELETE_ORPHAN)
            .bind(key)
            .bind(inbox)
            .execute(&mut *conn)
            .await?;
    }
    if !holders.unmarked.is_empty() {
        sqlx::query(MARK_SEEN)
            .bind(&holders.unmarked)
            .execute(&mut *conn)
            .await?;
    }
    match event.judge(holders.by_id.as_ref(), holders.by_digest.as_ref()) {
        Verdict::Duplicate { reply } => Ok(Some(Claim::Duplicate { reply })),
        Verdict::InFlight => Ok(Some(Claim::InFlight)),
        Verdict::Quarantine {
            reason,
            first,
            same_content,
        } => {
            quarantine::keep(conn, event, reason, first, same_content).await?;
            Ok(Some(Claim::Quarantined(reason)))
        }
        Verdict::Revive(first) => {
            let revived = sqlx::query(REVIVE)
                .bind(uuid(first))
                .bind(&event.payload()[..])
                .bind(&event.digest().as_bytes()[..])
                .execute(conn)
                .await?;
            Ok((revived.rows_affected() == 1).then_some(Claim::Revived))
        }
        // `Vanished`, and whatever a later core may add: never taken for a duplicate.
        _ => Ok(None),
    }
}

/// Decide an inline claim that was lost, after its transaction was rolled back.
pub(super) async fn judge_lost(
    ledger: &PostgresLedger,
    event: &NewEvent,
) -> Result<Option<Claim>, LedgerError> {
    let mut conn = ledger.lend().await?;
    let mut claims = [None];
    let outcome = judge(&mut conn, std::slice::from_ref(event), &mut claims).await;
    conn.settle(outcome)?;
    let [claim] = claims;
    Ok(claim)
}

/// Keys ascending, so that no two batches deadlock. A row is written only with all of its keys, in
/// this very statement: a key without its row never gets one.
///
/// Heads are locked after the keys were won, ascending too, and before the rows draw their `seq`:
/// a condition, not a join, so that rows stay in the order of the batch, and inside a `case`, which is
/// what keeps the planner from making a join of it. Each looks into a hash that is filled once.
const INSERT: &str = "
with event as materialized (
    select * from unnest(
        $1::uuid[], $2::bytea[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::bytea[], $10::bytea[], $11::text[], $12::bigint[], $13::text[], $14::bytea[],
        $17::text[], $18::text[], $19::bytea[]
    ) as e(id, id_key, digest_key, endpoint, principal, account, event_id,
           event_type, digest, key_fingerprint, key_id, signed_at, headers, payload,
           first_state, first_error, order_key)
),
wanted as (
    select id_key as key, id, 1::smallint as kind, key_fingerprint from event
    union all
    select digest_key, id, 2::smallint, key_fingerprint from event where digest_key is not null
),
won as (
    insert into webhook.claim (key, inbox, kind, key_fingerprint)
    select key, id, kind, key_fingerprint from wanted order by key
    on conflict (key) do nothing
    returning inbox
),
whole as materialized (
    select inbox, pg_catalog.count(*) as keys from won group by inbox
),
head as (
    insert into webhook.order_head (order_key)
    select distinct order_key from event
    where case when order_key is not null
        then (id, case when digest_key is null then 1 else 2 end) in (select inbox, keys from whole)
        end
    order by order_key
    on conflict (order_key) do update set last_at = pg_catalog.clock_timestamp()
    returning order_key
)
insert into webhook.inbox (
    id, endpoint, principal, account, event_id, event_type, state, token, due_at, settled_at, last_error,
    id_key, digest_key, digest, key_fingerprint, key_id, signed_at, order_key, headers, payload)
select
    id, endpoint, principal, account, event_id, event_type,
    case when $15::bigint is null then first_state else 'processing' end,
    $15::bigint,
    pg_catalog.clock_timestamp() + $16::bigint * interval '1 millisecond',
    case when $15::bigint is null and first_state <> 'pending'
        then pg_catalog.clock_timestamp() end,
    first_error,
    id_key, digest_key, digest, key_fingerprint, key_id, signed_at, order_key, headers, payload
from event
where case
    when (id, case when digest_key is null then 1 else 2 end) in (select inbox, keys from whole)
    then order_key is null or order_key in (select order_key from head)
    end
returning id, pg_catalog.floor(extract(epoch from received_at))::bigint";

/// Read after the insert committed, in a statement and snapshot of its own.
/// `offset 0` makes each key one search of an index, whatever the planner believes of the table.
const HOLDERS: &str = "
select
    wanted.position, held.*,
    inbox.state, inbox.event_type, inbox.digest, inbox.canonical, inbox.reply_type, inbox.reply,
    inbox.payload is not null as is_payload_kept,
    case when inbox.digest <> wanted.digest and inbox.canonical is null
        then inbox.payload end as payload,
    inbox.last_seen_at > pg_catalog.clock_timestamp() - interval '1 minute' as was_seen_lately,
    inbox.last_error = 'transaction_escaped' as has_escaped
from unnest($1::bigint[], $2::bytea[], $3::bytea[]) as wanted(position, key, digest)
cross join lateral (
    select key, inbox, pruned_at is not null as is_tombstone, digest as tombstone
    from webhook.claim where claim.key = wanted.key offset 0
) as held
left join lateral (
    select * from webhook.inbox where inbox.id = held.inbox offset 0
) as inbox on true";

const DELETE_ORPHAN: &str = "
delete from webhook.claim
where key = $1 and inbox = $2 and pruned_at is null
  and not exists (select from webhook.inbox where inbox.id = $2)";

/// Retention counts from here. A row that somebody works on is not waited for.
const MARK_SEEN: &str = "
update webhook.inbox set last_seen_at = pg_catalog.clock_timestamp()
where id in (select id from webhook.inbox where id = any($1) order by id for update skip locked)";

/// Its failures stay counted, and `due_at` is the end of its quiet time: redeliveries buy one
/// attempt for each of those.
///
/// A dead event is in nobody's way, so one that was passed over may be running by now, taken by a
/// statement that has not seen this one: an ordered event waits until no such statement is left.
const REVIVE: &str = "
update webhook.inbox set
    state = 'pending',
    due_at = greatest(due_at, pg_catalog.clock_timestamp()
        + case when order_key is null then interval '0' else interval '15 seconds' end),
    last_seen_at = pg_catalog.clock_timestamp(),
    settled_at = null,
    digest = case when payload is null then $3 else digest end,
    payload = coalesce(payload, $2)
where id = $1 and state in ('dead', 'ignored')";
