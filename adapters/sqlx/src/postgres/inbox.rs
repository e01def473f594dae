//! The inbox: leasing due events and recording what became of them.
//!
//! Every write is guarded by the lease: token, state, and an end that has not come yet.

use std::collections::HashSet;
use std::time::Duration;

use sqlx::PgConnection;
use sqlx::types::Uuid;
use webhook_core::ledger::{Completion, Failure, LONGEST_LEASE, Lease, Next, Take, Taken};

use crate::stored::{CLOCK_MARGIN, LeasedRow, cut, millis, reply_columns, uuid};

pub(super) async fn take(conn: &mut PgConnection, want: &Take) -> Result<Taken, sqlx::Error> {
    let longest = LONGEST_LEASE.max(want.lease.saturating_mul(2));
    let rows: Vec<LeasedRow> = sqlx::query_as(TAKE)
        .bind(&*want.endpoint)
        .bind(want.event_types.listed())
        .bind(i64::from(want.max))
        .bind(i64::from(want.max_crashes))
        .bind(millis(want.lease))
        .bind(millis(longest))
        .bind(millis(want.longest_pause.saturating_add(CLOCK_MARGIN)))
        .bind(i64::from(want.max_abandoned.min(want.max)))
        .bind(i64::from(want.suspect_from))
        .fetch_all(conn)
        .await?;
    let found = rows.len();
    let mut events = Vec::with_capacity(found);
    for row in rows {
        events.extend(row.into_leased(&want.endpoint)?);
    }
    let buried = found.saturating_sub(events.len());
    Ok(Taken::new(
        events,
        u64::try_from(buried).unwrap_or(u64::MAX),
    ))
}

pub(super) async fn renew(
    conn: &mut PgConnection,
    leases: Vec<Lease>,
    length: Duration,
) -> Result<Vec<Lease>, sqlx::Error> {
    let (ids, tokens) = columns(&leases);
    let held: Vec<(Uuid, i64)> = sqlx::query_as(RENEW)
        .bind(ids)
        .bind(tokens)
        .bind(millis(length))
        .fetch_all(conn)
        .await?;
    let held: HashSet<(Uuid, i64)> = held.into_iter().collect();
    let is_held = |lease: &Lease| held.contains(&(uuid(lease.inbox()), lease.token().get()));
    Ok(leases.into_iter().filter(is_held).collect())
}

/// Complete events in one statement; whether each was, also by this very token before.
pub(super) async fn complete(
    conn: &mut PgConnection,
    done: &[(Lease, Completion)],
) -> Result<Vec<bool>, sqlx::Error> {
    fn column<'d, T>(
        done: &'d [(Lease, Completion)],
        value: impl Fn(&'d (Lease, Completion)) -> T,
    ) -> Vec<T> {
        done.iter().map(value).collect()
    }
    let completed: Vec<Uuid> = sqlx::query_scalar(COMPLETE)
        .bind(column(done, |(lease, _)| uuid(lease.inbox())))
        .bind(column(done, |(lease, _)| lease.token().get()))
        .bind(column(done, |(_, done)| {
            done.canonical.map(|digest| digest.as_bytes().to_vec())
        }))
        .bind(column(done, |(_, done)| reply_columns(&done.reply).0))
        .bind(column(done, |(_, done)| reply_columns(&done.reply).1))
        .fetch_all(&mut *conn)
        .await?;
    let completed: HashSet<Uuid> = completed.into_iter().collect();
    let mut outcomes = Vec::with_capacity(done.len());
    for (lease, _) in done {
        let is_completed =
            completed.contains(&uuid(lease.inbox())) || is_completed(&mut *conn, *lease).await?;
        outcomes.push(is_completed);
    }
    Ok(outcomes)
}

/// Whether the event was completed under this token.
pub(super) async fn is_completed(
    conn: &mut PgConnection,
    lease: Lease,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(IS_COMPLETED)
        .bind(uuid(lease.inbox()))
        .bind(lease.token().get())
        .fetch_one(conn)
        .await
}

pub(super) async fn fail(
    conn: &mut PgConnection,
    lease: Lease,
    failure: &Failure,
) -> Result<bool, sqlx::Error> {
    let (is_dead, pause) = match failure.next {
        Next::Dead { quiet } => (true, quiet),
        Next::Retry(pause) => (false, pause),
    };
    let failed = sqlx::query(FAIL)
        .bind(uuid(lease.inbox()))
        .bind(lease.token().get())
        .bind(is_dead)
        .bind(millis(pause))
        .bind(failure.counted)
        .bind(cut(&failure.error))
        .execute(conn)
        .await?;
    Ok(failed.rows_affected() == 1)
}

pub(super) async fn hand_back(
    conn: &mut PgConnection,
    mut leases: Vec<Lease>,
) -> Result<(), sqlx::Error> {
    // In one order, lest two that hand back at once wait for each other.
    leases.sort_unstable_by_key(Lease::inbox);
    let (ids, tokens) = columns(&leases);
    sqlx::query(HAND_BACK)
        .bind(ids)
        .bind(tokens)
        .execute(conn)
        .await?;
    Ok(())
}

fn columns(leases: &[Lease]) -> (Vec<Uuid>, Vec<i64>) {
    leases
        .iter()
        .map(|lease| (uuid(lease.inbox()), lease.token().get()))
        .unzip()
}

/// `(select clock_timestamp())` is evaluated once, so that an index can be searched by it.
/// A lease that ends too late was given by a clock that has been set back since: it has run out. So has
/// a pause that ends too late. Each is a range of its own at the far end of an index, and is served first.
///
/// No list of types is every type.
///
/// An event with an order key waits for those before it and for the one that runs. An abandoned one
/// is the one that runs: it is passed by nobody and waits for nobody. `offset 0` makes each look one
/// search of an index, and the states as they are said leave it the right one.
///
/// Of suspects one is taken, and none while another is leased. Whether one is, is asked once and only if a
/// suspect was abandoned.
const TAKE: &str = "
with running_suspect as materialized (
    select not exists (
        select from webhook.inbox
        where state = 'processing' and crashes >= $9
          and due_at > (select pg_catalog.clock_timestamp())
          and due_at <= (select pg_catalog.clock_timestamp()) + $6::bigint * interval '1 millisecond'
    ) as is_none
),
waiting as materialized (
    select id, due_at
    from webhook.inbox
    where endpoint = $1 and state = 'pending'
      and ($2::text[] is null or event_type = any($2))
      and due_at <= (select pg_catalog.clock_timestamp())
      and (order_key is null or not exists (
            select from webhook.inbox as running
            where running.order_key = inbox.order_key and running.state = 'processing'
            offset 0)
        and not exists (
            select from webhook.inbox as before
            where before.order_key = inbox.order_key and before.seq < inbox.seq
              and before.state in ('pending', 'processing')
            offset 0))
    order by due_at
    limit $3
    for update skip locked
),
put_off as materialized (
    select id, 'epoch'::timestamptz as due_at
    from webhook.inbox
    where endpoint = $1 and state = 'pending'
      and ($2::text[] is null or event_type = any($2))
      and due_at > (select pg_catalog.clock_timestamp()) + $7::bigint * interval '1 millisecond'
      and (order_key is null or not exists (
            select from webhook.inbox as running
            where running.order_key = inbox.order_key and running.state = 'processing'
            offset 0)
        and not exists (
            select from webhook.inbox as before
            where before.order_key = inbox.order_key and before.seq < inbox.seq
              and before.state in ('pending', 'processing')
            offset 0))
    order by inbox.due_at
    limit $3
    for update skip locked
),
abandoned as materialized (
    select id, due_at, crashes >= $9 and crashes < $4 as is_suspect
    from webhook.inbox
    where endpoint = $1 and state = 'processing'
      and ($2::text[] is null or event_type = any($2))
      and due_at <= (select pg_catalog.clock_timestamp())
      and (crashes < $9 or crashes >= $4 or (select is_none from running_suspect))
    order by due_at
    limit $8
    for update skip locked
),
unending as materialized (
    select id, 'epoch'::timestamptz as due_at, crashes >= $9 and crashes < $4 as is_suspect
    from webhook.inbox
    where endpoint = $1 and state = 'processing'
      and ($2::text[] is null or event_type = any($2))
      and due_at > (select pg_catalog.clock_timestamp()) + $6::bigint * interval '1 millisecond'
      and (crashes < $9 or crashes >= $4 or (select is_none from running_suspect))
    order by inbox.due_at
    limit $8
    for update skip locked
),
gone as (
    select id, due_at
    from (
        select *, pg_catalog.row_number() over (partition by is_suspect order by due_at) as place
        from (select * from unending union all select * from abandoned) as either
    ) as each
    where place = 1 or not is_suspect
    order by due_at limit $8
),
due as materialized (
    select * from waiting union all select * from put_off union all select * from gone
    order by due_at limit $3
),
taken as (
    update webhook.inbox set
        token = pg_catalog.nextval('webhook.fencing_token'),
        state = case when state = 'processing' and crashes >= $4 then 'dead' else 'processing' end,
        crashes = crashes + (state = 'processing')::integer,
        settled_at = case when state = 'processing' and crashes >= $4
            then pg_catalog.clock_timestamp() end,
        last_error = case when state = 'processing' and crashes >= $4
            then 'crashed too often' else last_error end,
        due_at = pg_catalog.clock_timestamp() + $5::bigint * interval '1 millisecond'
    where id = any(array(select id from due))
    returning *
)
select
    taken.id, id_key, token, state, failures::bigint, crashes::bigint, contended::bigint, principal, account, event_id,
    event_type, payload, headers, key_id, signed_at,
    pg_catalog.floor(extract(epoch from received_at))::bigint as received_at
from taken join due on due.id = taken.id
order by due.due_at, seq";

/// Waits for nobody: a row locked by its own completion is not renewed but still held.
const RENEW: &str = "
with lease as materialized (
    select * from unnest($1::uuid[], $2::bigint[]) as l(id, token)
),
held as materialized (
    select inbox.id
    from lease cross join lateral (
        select id from webhook.inbox
        where inbox.id = lease.id and inbox.token = lease.token
          and state = 'processing' and due_at > pg_catalog.clock_timestamp()
        for update skip locked
    ) as inbox
),
renewed as (
    update webhook.inbox
    set due_at = pg_catalog.clock_timestamp() + $3::bigint * interval '1 millisecond'
    where id = any(array(select id from held))
)
select lease.id, lease.token
from lease cross join lateral (
    select from webhook.inbox
    where inbox.id = lease.id and inbox.token = lease.token
      and state = 'processing' and due_at > pg_catalog.clock_timestamp()
    offset 0
) as inbox";

const COMPLETE: &str = "
update webhook.inbox set
    state = 'completed', settled_at = pg_catalog.clock_timestamp(), last_error = null,
    canonical = done.canonical, reply_type = done.reply_type, reply = done.reply
from unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::text[], $5::bytea[])
    as done(id, token, canonical, reply_type, reply)
where inbox.id = done.id and inbox.token = done.token
  and state = 'processing' and due_at > pg_catalog.clock_timestamp()
returning inbox.id";

const IS_COMPLETED: &str = "
select exists (select from webhook.inbox where id = $1 and token = $2 and state = 'completed')";

const FAIL: &str = "
update webhook.inbox set
    state = case when $3 then 'dead' else 'pending' end,
    settled_at = case when $3 then pg_catalog.clock_timestamp() end,
    due_at = pg_catalog.clock_timestamp() + $4::bigint * interval '1 millisecond',
    failures = failures + $5::boolean::integer,
    contended = contended + (not $5::boolean)::integer,
    last_error = $6
where id = $1 and token = $2 and state = 'processing' and due_at > pg_catalog.clock_timestamp()";

const HAND_BACK: &str = "
update webhook.inbox set
    state = 'pending', due_at = pg_catalog.clock_timestamp(), hand_backs = hand_backs + 1
where id = any(array(
    select inbox.id
    from unnest($1::uuid[], $2::bigint[]) as lease(id, token)
    cross join lateral (
        select id from webhook.inbox
        where inbox.id = lease.id and inbox.token = lease.token
          and state = 'processing' and due_at > pg_catalog.clock_timestamp()
        for update
    ) as inbox))";
