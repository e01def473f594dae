//! What operators do: look into quarantine and among stored events, release, discard, replay.

use sqlx::types::Uuid;
use sqlx::{PgConnection, Postgres, QueryBuilder};
use webhook_core::ClaimKey;
use webhook_core::ledger::{Found, QuarantineId, Quarantined, Release, Replay, Replayable, Search};

use crate::listed::{FoundRow, QuarantinedRow, found_all, quarantined_all, replay_refused};
use crate::stored::{cut, inbox_id, new_id, uuid};

pub(super) async fn quarantined(
    conn: &mut PgConnection,
    endpoint: Option<&str>,
    after: Option<QuarantineId>,
    limit: u32,
) -> Result<Vec<Quarantined>, sqlx::Error> {
    let rows: Vec<QuarantinedRow> = sqlx::query_as(QUARANTINED)
        .bind(endpoint)
        .bind(after.map_or(Uuid::nil(), |after| Uuid::from_bytes(*after.as_bytes())))
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await?;
    quarantined_all(rows)
}

pub(super) async fn release(
    conn: &mut PgConnection,
    id: QuarantineId,
    actor: &str,
) -> Result<Release, sqlx::Error> {
    let row = Uuid::from_bytes(*id.as_bytes());
    let released: Option<Uuid> = sqlx::query_scalar(RELEASE)
        .bind(row)
        .bind(cut(actor))
        .bind(&ClaimKey::by_release(id).as_bytes()[..])
        .bind(new_id())
        .fetch_optional(&mut *conn)
        .await?;
    if let Some(released) = released {
        return Ok(Release::Released(inbox_id(released)));
    }
    let is_open: bool = sqlx::query_scalar(IS_OPEN)
        .bind(row)
        .fetch_one(conn)
        .await?;
    Ok(if is_open {
        Release::NoPayload
    } else {
        Release::Settled
    })
}

pub(super) async fn discard(
    conn: &mut PgConnection,
    id: QuarantineId,
    actor: &str,
) -> Result<bool, sqlx::Error> {
    let discarded = sqlx::query(DISCARD)
        .bind(Uuid::from_bytes(*id.as_bytes()))
        .bind(cut(actor))
        .execute(conn)
        .await?;
    Ok(discarded.rows_affected() == 1)
}

pub(super) async fn find(
    conn: &mut PgConnection,
    what: &Search,
) -> Result<Vec<Found>, sqlx::Error> {
    // Text with a NUL cannot be asked for, and is nowhere.
    let texts = [
        what.endpoint.as_deref(),
        what.event_type.as_deref(),
        what.event_id.as_deref(),
    ];
    if texts.into_iter().flatten().any(|text| text.contains('\0')) {
        return Ok(Vec::new());
    }
    let mut query: QueryBuilder<Postgres> = QueryBuilder::new(FIND);
    if let Some(endpoint) = &what.endpoint {
        query
            .push(" and endpoint = ")
            .push_bind(endpoint.to_string());
    }
    if let Some(state) = what.state {
        // As a literal: only so a partial index is found.
        query.push(" and state = '").push(state.as_str()).push("'");
    }
    if let Some(event_type) = &what.event_type {
        query.push(" and event_type = ").push_bind(event_type);
    }
    if let Some(event_id) = &what.event_id {
        query.push(" and event_id = ").push_bind(event_id);
    }
    if let Some(after) = what.after {
        query.push(" and id > ").push_bind(uuid(after));
    }
    query
        .push(" order by id limit ")
        .push_bind(i64::from(what.limit));
    let rows: Vec<FoundRow> = query.build_query_as().fetch_all(conn).await?;
    found_all(rows)
}

pub(super) async fn replay(
    conn: &mut PgConnection,
    inbox: Uuid,
    actor: &str,
    which: Replayable,
) -> Result<Replay, sqlx::Error> {
    let replayed = sqlx::query(REPLAY)
        .bind(inbox)
        .bind(cut(actor))
        .bind(which == Replayable::EvenCompleted)
        .execute(&mut *conn)
        .await?;
    if replayed.rows_affected() == 1 {
        return Ok(Replay::Waiting);
    }
    let row = sqlx::query_as("select state, payload is not null from webhook.inbox where id = $1")
        .bind(inbox)
        .fetch_optional(conn)
        .await?;
    replay_refused(row, which)
}

/// At most `limit` of them.
pub(super) async fn replay_ignored(
    conn: &mut PgConnection,
    endpoint: &str,
    event_types: &[String],
    actor: &str,
    limit: u64,
) -> Result<u64, sqlx::Error> {
    let replayed = sqlx::query(REPLAY_IGNORED)
        .bind(endpoint)
        .bind(event_types)
        .bind(cut(actor))
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .execute(conn)
        .await?;
    Ok(replayed.rows_affected())
}

const QUARANTINED: &str = "
select
    id, endpoint, reason, event_id, event_type, account, digest, first_inbox, first_digest, seen,
    pg_catalog.floor(extract(epoch from first_seen_at))::bigint as first_seen_at,
    pg_catalog.floor(extract(epoch from last_seen_at))::bigint as last_seen_at
from webhook.quarantine
where released_at is null and id > $2 and ($1::text is null or endpoint = $1)
order by id
limit $3";

/// The row is compared and set, its claim key won and its event stored in one statement. A payload
/// that was not kept is the first one's, except where it is the content that differs.
const RELEASE: &str = "
with source as materialized (
    select
        coalesce(kept.payload, first.payload) as payload,
        case when kept.payload is null then first.digest else kept.digest end as digest
    from webhook.quarantine as kept
    left join webhook.inbox as first
        on first.id = kept.first_inbox and kept.reason <> 'content_mismatch'
    where kept.id = $1 and coalesce(kept.payload, first.payload) is not null
),
released as (
    update webhook.quarantine set
        released_at = pg_catalog.clock_timestamp(), released_by = $2, resolution = 'released'
    where id = $1 and released_at is null and exists (select from source)
    returning *
),
won as (
    insert into webhook.claim (key, inbox, kind, key_fingerprint)
    select $3, $4, 3, key_fingerprint from released
    on conflict (key) do nothing
    returning inbox
),
head as (
    insert into webhook.order_head (order_key)
    select order_key from released
    where order_key is not null and (select pg_catalog.count(*) from won) = 1
    on conflict (order_key) do update set last_at = pg_catalog.clock_timestamp()
    returning order_key
)
insert into webhook.inbox (
    id, endpoint, principal, account, event_id, event_type, state, due_at,
    id_key, digest, key_fingerprint, key_id, signed_at, order_key, headers, payload,
    replayed_at, replayed_by)
select
    $4, endpoint, principal, account, event_id, event_type, 'pending',
    pg_catalog.clock_timestamp(), $3, source.digest, key_fingerprint, key_id, signed_at, order_key,
    headers, source.payload, pg_catalog.clock_timestamp(), $2
from released cross join source
where (select pg_catalog.count(*) from won) = 1
  and (order_key is null
    or (select pg_catalog.count(*) from head where head.order_key = released.order_key) = 1)
returning id";

const IS_OPEN: &str =
    "select exists (select from webhook.quarantine where id = $1 and released_at is null)";

const DISCARD: &str = "
update webhook.quarantine set
    released_at = pg_catalog.clock_timestamp(), released_by = $2, resolution = 'discarded'
where id = $1 and released_at is null";

const FIND: &str = "
select
    id, endpoint, event_id, event_type, account, state, failures::bigint, crashes::bigint,
    last_error, pg_catalog.floor(extract(epoch from received_at))::bigint as received_at
from webhook.inbox
where true";

/// An ordered event waits as one that is revived by a redelivery does.
const REPLAY: &str = "
update webhook.inbox set
    state = 'pending',
    due_at = pg_catalog.clock_timestamp()
        + case when order_key is null then interval '0' else interval '15 seconds' end,
    failures = 0, crashes = 0, contended = 0, settled_at = null,
    replayed_at = pg_catalog.clock_timestamp(), replayed_by = $2
where id = $1 and payload is not null
  and (state in ('dead', 'ignored') or ($3 and state = 'completed'))";

const REPLAY_IGNORED: &str = "
update webhook.inbox set
    state = 'pending',
    due_at = pg_catalog.clock_timestamp()
        + case when order_key is null then interval '0' else interval '15 seconds' end,
    failures = 0, crashes = 0, contended = 0, settled_at = null,
    replayed_at = pg_catalog.clock_timestamp(), replayed_by = $3
where id = any(array(
    select id from webhook.inbox
    where state = 'ignored' and endpoint = $1 and event_type = any($2) and payload is not null
    order by id
    limit $4
    for update skip locked))";
