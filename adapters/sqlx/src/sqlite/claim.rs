//! Claims: read, judged and written in one transaction that nobody else can write beside.

use std::sync::Arc;

use sqlx::SqliteConnection;
use sqlx::types::Uuid;
use webhook_core::ledger::LedgerError;
use webhook_core::{Claim, NewEvent, Verdict, fault_point};

use super::{SqliteLedger, quarantine};
use crate::error::{StoreFault, contention};
use crate::stored::{CLAIM_ROUNDS, Holders, KeyRow, new_id, uuid};

/// Claim the events of deliveries that came at the same time, in one transaction.
pub(super) async fn claim_together(
    ledger: &SqliteLedger,
    deliveries: &[Arc<[NewEvent]>],
) -> Result<Vec<Vec<Claim>>, LedgerError> {
    fault_point!("claim.begin", error => return Err(crate::error::ledger_error(error.into())));
    let mut conn = ledger.write().await?;
    let outcome = try_claim(&mut conn, deliveries).await;
    fault_point!("claim.written", error => return Err(crate::error::ledger_error(error.into())));
    let claims = ledger.commit(conn, outcome).await?;
    fault_point!("claim.done", error => return Err(crate::error::ledger_error(error.into())));
    claims.ok_or_else(|| contention(StoreFault::Unsettled))
}

async fn try_claim(
    conn: &mut SqliteConnection,
    deliveries: &[Arc<[NewEvent]>],
) -> Result<Option<Vec<Vec<Claim>>>, sqlx::Error> {
    let mut all = Vec::with_capacity(deliveries.len());
    for events in deliveries {
        let mut claims = Vec::with_capacity(events.len());
        for event in events.iter() {
            match claim_one(conn, event, None).await? {
                Some(One::Won { .. }) => claims.push(Claim::Stored),
                Some(One::Lost(claim)) => claims.push(claim),
                None => return Ok(None),
            }
        }
        all.push(claims);
    }
    Ok(Some(all))
}

/// What became of one claim.
pub(super) enum One {
    Lost(Claim),
    Won { id: Uuid, received_at: i64 },
}

/// Claim one event, with token and milliseconds of a lease if it is `inline`.
/// `None` only where a verdict is not understood.
pub(super) async fn claim_one(
    conn: &mut SqliteConnection,
    event: &NewEvent,
    inline: Option<(i64, i64)>,
) -> Result<Option<One>, sqlx::Error> {
    for _ in 0..CLAIM_ROUNDS {
        let holders = holders(conn, event).await?;
        if holders.by_id.is_none() && holders.by_digest.is_none() {
            for (key, inbox) in &holders.orphans {
                sqlx::query(DELETE_ORPHAN)
                    .bind(key)
                    .bind(inbox)
                    .execute(&mut *conn)
                    .await?;
            }
            return insert(conn, event, inline).await.map(Some);
        }
        if let Some(claim) = settle(conn, event, holders).await? {
            return Ok(Some(One::Lost(claim)));
        }
    }
    Ok(None)
}

async fn insert(
    conn: &mut SqliteConnection,
    event: &NewEvent,
    inline: Option<(i64, i64)>,
) -> Result<One, sqlx::Error> {
    let id = new_id();
    let keys = [(event.id_key(), 1)]
        .into_iter()
        .chain(event.digest_key().map(|key| (key, 2)));
    for (key, kind) in keys {
        sqlx::query(INSERT_KEY)
            .bind(&key.as_bytes()[..])
            .bind(id)
            .bind(kind)
            .bind(&event.key_fingerprint().as_bytes()[..])
            .execute(&mut *conn)
            .await?;
    }
    let received_at = sqlx::query_scalar(INSERT)
        .bind(id)
        .bind(&**event.endpoint())
        .bind(event.principal())
        .bind(event.account())
        .bind(event.id().as_str())
        .bind(event.event_type().as_str())
        .bind(inline.map(|(token, _)| token))
        .bind(inline.map_or(0, |(_, lease)| lease))
        .bind(&event.digest().as_bytes()[..])
        .bind(&event.key_fingerprint().as_bytes()[..])
        .bind(event.key_id())
        .bind(event.signed_at())
        .bind(event.headers().to_json())
        .bind(&event.payload()[..])
        .bind(event.first_state().as_str())
        // Its handler runs now, before any that waits.
        .bind(
            event
                .order_key()
                .filter(|_| inline.is_none())
                .map(|key| key.as_bytes().to_vec()),
        )
        .bind(&event.id_key().as_bytes()[..])
        .bind(event.digest_key().map(|key| key.as_bytes().to_vec()))
        .bind(event.first_error())
        .fetch_one(conn)
        .await?;
    Ok(One::Won { id, received_at })
}

/// Read who holds the keys of `event`.
async fn holders(conn: &mut SqliteConnection, event: &NewEvent) -> Result<Holders, sqlx::Error> {
    let mut holders = Holders::default();
    for key in event.keys() {
        let row: Option<KeyRow> = sqlx::query_as(HOLDER)
            .bind(&key.as_bytes()[..])
            .bind(&event.digest().as_bytes()[..])
            .fetch_optional(&mut *conn)
            .await?;
        if let Some(row) = row {
            holders.add(event, row)?;
        }
    }
    Ok(holders)
}

/// Act on the verdict over a lost claim. `None`: look again.
async fn settle(
    conn: &mut SqliteConnection,
    event: &NewEvent,
    holders: Holders,
) -> Result<Option<Claim>, sqlx::Error> {
    for inbox in &holders.unmarked {
        sqlx::query(MARK_SEEN)
            .bind(inbox)
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

const INSERT_KEY: &str =
    "insert into webhook_claim (key, inbox, kind, key_fingerprint) values (?1, ?2, ?3, ?4)";

const INSERT: &str = concat!(
    "
insert into webhook_inbox (
    id, endpoint, principal, account, event_id, event_type, state, token, due_at,
    digest, key_fingerprint, key_id, signed_at, headers, payload, order_key, id_key, digest_key,
    last_error, settled_at)
values (
    ?1, ?2, ?3, ?4, ?5, ?6, case when ?7 is null then ?15 else 'processing' end, ?7,
    ",
    now!(),
    " + ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?16, ?17, ?18, ?19,
    case when ?7 is null and ?15 <> 'pending' then ",
    now!(),
    " end)
returning received_at / 1000"
);

const HOLDER: &str = concat!(
    "
select
    0 as position, claim.key, claim.inbox,
    claim.pruned_at is not null as is_tombstone, claim.digest as tombstone,
    inbox.state, inbox.event_type, inbox.digest, inbox.canonical, inbox.reply_type, inbox.reply,
    inbox.payload is not null as is_payload_kept,
    case when inbox.digest <> ?2 and inbox.canonical is null then inbox.payload end as payload,
    inbox.last_seen_at > ",
    now!(),
    " - 60000 as was_seen_lately,
    last_error = 'transaction_escaped' as has_escaped
from webhook_claim as claim
left join webhook_inbox as inbox on inbox.id = claim.inbox
where claim.key = ?1"
);

const DELETE_ORPHAN: &str = "
delete from webhook_claim
where key = ?1 and inbox = ?2 and pruned_at is null
  and not exists (select 1 from webhook_inbox where id = ?2)";

/// Retention counts from here.
const MARK_SEEN: &str = concat!(
    "update webhook_inbox set last_seen_at = ",
    now!(),
    " where id = ?1"
);

/// Its failures stay counted, and `due_at` is the end of its quiet time: redeliveries buy one
/// attempt for each of those.
const REVIVE: &str = concat!(
    "
update webhook_inbox set
    state = 'pending',
    due_at = max(due_at, ",
    now!(),
    "),
    last_seen_at = ",
    now!(),
    ",
    settled_at = null,
    digest = case when payload is null then ?3 else digest end,
    payload = coalesce(payload, ?2)
where id = ?1 and state in ('dead', 'ignored')"
);
