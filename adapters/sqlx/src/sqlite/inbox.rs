//! The inbox: leasing due events and recording what became of them.
//!
//! Every write is guarded by the lease: token, state, and an end that has not come yet.

use std::ops::RangeInclusive;
use std::time::Duration;

use sqlx::SqliteConnection;
use sqlx::types::Uuid;
use webhook_core::ledger::{Completion, Failure, LONGEST_LEASE, Lease, Next, Take, Taken};

use crate::stored::{CLOCK_MARGIN, LeasedRow, cut, millis, reply_columns, unreadable, uuid};

/// Ids of what is due, first due first, and whether its lease has run out. Reads only, so that
/// looking in vain disturbs no writer.
pub(super) async fn due(
    conn: &mut SqliteConnection,
    want: &Take,
) -> Result<Vec<(Uuid, bool)>, sqlx::Error> {
    let longest = LONGEST_LEASE.max(want.lease.saturating_mul(2));
    let listed = want.event_types.listed().map(serde_json::to_string);
    let event_types = listed.transpose().map_err(|_| unreadable())?;
    sqlx::query_as(DUE)
        .bind(&*want.endpoint)
        .bind(event_types)
        .bind(i64::from(want.max))
        .bind(millis(longest))
        .bind(millis(want.longest_pause.saturating_add(CLOCK_MARGIN)))
        .bind(i64::from(want.max_abandoned.min(want.max)))
        .bind(i64::from(want.suspect_from))
        .bind(i64::from(want.max_crashes))
        .fetch_all(conn)
        .await
}

pub(super) async fn take(conn: &mut SqliteConnection, want: &Take) -> Result<Taken, sqlx::Error> {
    let mut events = Vec::new();
    let mut buried = 0u64;
    let due = due(conn, want).await?;
    let tokens = tokens(conn, due.len()).await?;
    for ((id, has_crashed), token) in due.into_iter().zip(tokens) {
        let row: LeasedRow = sqlx::query_as(TAKE)
            .bind(id)
            .bind(token)
            .bind(has_crashed)
            .bind(i64::from(want.max_crashes))
            .bind(millis(want.lease))
            .fetch_one(&mut *conn)
            .await?;
        match row.into_leased(&want.endpoint)? {
            Some(event) => events.push(event),
            None => buried = buried.saturating_add(1),
        }
    }
    Ok(Taken::new(events, buried))
}

pub(super) async fn next_token(conn: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(DRAW).bind(1).fetch_one(conn).await
}

/// Draw so many tokens.
async fn tokens(
    conn: &mut SqliteConnection,
    count: usize,
) -> Result<RangeInclusive<i64>, sqlx::Error> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let last: i64 = sqlx::query_scalar(DRAW).bind(count).fetch_one(conn).await?;
    Ok(last.saturating_sub(count).saturating_add(1)..=last)
}

pub(super) async fn renew(
    conn: &mut SqliteConnection,
    leases: Vec<Lease>,
    length: Duration,
) -> Result<Vec<Lease>, sqlx::Error> {
    let mut held = Vec::with_capacity(leases.len());
    for lease in leases {
        if renew_one(conn, lease, length).await? {
            held.push(lease);
        }
    }
    Ok(held)
}

pub(super) async fn renew_one(
    conn: &mut SqliteConnection,
    lease: Lease,
    length: Duration,
) -> Result<bool, sqlx::Error> {
    let renewed = sqlx::query(RENEW)
        .bind(uuid(lease.inbox()))
        .bind(lease.token().get())
        .bind(millis(length))
        .execute(conn)
        .await?;
    Ok(renewed.rows_affected() == 1)
}

/// Complete events; whether each was, also by this very token before.
pub(super) async fn complete(
    conn: &mut SqliteConnection,
    done: &[(Lease, Completion)],
) -> Result<Vec<bool>, sqlx::Error> {
    let mut outcomes = Vec::with_capacity(done.len());
    for (lease, done) in done {
        let is_completed =
            complete_now(conn, *lease, done).await? || is_completed(conn, *lease).await?;
        outcomes.push(is_completed);
    }
    Ok(outcomes)
}

/// The guarded completion itself.
pub(super) async fn complete_now(
    conn: &mut SqliteConnection,
    lease: Lease,
    done: &Completion,
) -> Result<bool, sqlx::Error> {
    let (reply_type, reply) = reply_columns(&done.reply);
    let completed = sqlx::query(COMPLETE)
        .bind(uuid(lease.inbox()))
        .bind(lease.token().get())
        .bind(done.canonical.map(|digest| digest.as_bytes().to_vec()))
        .bind(reply_type)
        .bind(reply)
        .execute(conn)
        .await?;
    Ok(completed.rows_affected() == 1)
}

/// Whether the event was completed under this token.
pub(super) async fn is_completed(
    conn: &mut SqliteConnection,
    lease: Lease,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(IS_COMPLETED)
        .bind(uuid(lease.inbox()))
        .bind(lease.token().get())
        .fetch_one(conn)
        .await
}

pub(super) async fn fail(
    conn: &mut SqliteConnection,
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
    conn: &mut SqliteConnection,
    leases: &[Lease],
) -> Result<(), sqlx::Error> {
    for lease in leases {
        sqlx::query(HAND_BACK)
            .bind(uuid(lease.inbox()))
            .bind(lease.token().get())
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}

const DRAW: &str = "update webhook_fencing_token set value = value + ?1 returning value";

/// A lease that ends too late was given by a clock that has been set back since: it has run out. So has
/// a pause that ends too late. Each is a range of its own at the far end of an index, and is served first.
///
/// No list of types is every type.
///
/// An event with an order key waits for those before it and for the one that runs. An abandoned one
/// is the one that runs: it is passed by nobody and waits for nobody. The states are said as the
/// partial indexes say them: only so SQLite uses them.
///
/// Of suspects one is taken, and none while another is leased. Whether one is, is asked once and only if a
/// suspect was abandoned.
const DUE: &str = concat!(
    "
select id, has_crashed from (
    select * from (
        select id, due_at, seq, 0 as has_crashed from webhook_inbox
        where endpoint = ?1 and state = 'pending' and due_at <= ",
    now!(),
    "
          and (?2 is null or event_type in (select value from json_each(?2)))
          and (order_key is null or not exists (
                select 1 from webhook_inbox as running indexed by webhook_inbox_leased
                where running.order_key = webhook_inbox.order_key
                  and running.state = 'processing')
            and not exists (
                select 1 from webhook_inbox as before
                where before.order_key = webhook_inbox.order_key
                  and before.seq < webhook_inbox.seq
                  and before.state in ('pending', 'processing')))
        order by due_at limit ?3)
    union all
    select * from (
        select id, 0 as due_at, seq, 0 as has_crashed from webhook_inbox
        where endpoint = ?1 and state = 'pending' and due_at > ",
    now!(),
    " + ?5
          and (?2 is null or event_type in (select value from json_each(?2)))
          and (order_key is null or not exists (
                select 1 from webhook_inbox as running indexed by webhook_inbox_leased
                where running.order_key = webhook_inbox.order_key
                  and running.state = 'processing')
            and not exists (
                select 1 from webhook_inbox as before
                where before.order_key = webhook_inbox.order_key
                  and before.seq < webhook_inbox.seq
                  and before.state in ('pending', 'processing')))
        order by webhook_inbox.due_at limit ?3)
    union all
    select id, due_at, seq, has_crashed from (
        select *, row_number() over (partition by is_suspect order by due_at, seq) as place from (
        select id, case when due_at > ",
    now!(),
    " then 0 else due_at end as due_at, seq, 1 as has_crashed,
            crashes >= ?7 and crashes < ?8 as is_suspect
        from webhook_inbox
        where endpoint = ?1 and state = 'processing' and (due_at <= ",
    now!(),
    " or due_at > ",
    now!(),
    " + ?4)
          and (?2 is null or event_type in (select value from json_each(?2)))
          and (crashes < ?7 or crashes >= ?8 or not exists (
                select 1 from webhook_inbox as running
                where running.state = 'processing' and running.crashes >= ?7
                  and running.due_at > ",
    now!(),
    " and running.due_at <= ",
    now!(),
    " + ?4))
        order by webhook_inbox.due_at limit ?6))
    where place = 1 or not is_suspect
)
order by due_at, seq limit ?3"
);

const TAKE: &str = concat!(
    "
update webhook_inbox set
    token = ?2,
    state = case when ?3 and crashes >= ?4 then 'dead' else 'processing' end,
    crashes = crashes + ?3,
    settled_at = case when ?3 and crashes >= ?4 then ",
    now!(),
    " end,
    last_error = case when ?3 and crashes >= ?4 then 'crashed too often' else last_error end,
    due_at = ",
    now!(),
    " + ?5
where id = ?1
returning
    id, id_key, token, state, failures, crashes, contended, principal, account, event_id, event_type,
    payload, headers, key_id, signed_at, received_at / 1000 as received_at"
);

const RENEW: &str = concat!(
    "update webhook_inbox set due_at = ",
    now!(),
    " + ?3 where id = ?1 and token = ?2 and state = 'processing' and due_at > ",
    now!()
);

const COMPLETE: &str = concat!(
    "
update webhook_inbox set
    state = 'completed', settled_at = ",
    now!(),
    ", last_error = null,
    canonical = ?3, reply_type = ?4, reply = ?5
where id = ?1 and token = ?2 and state = 'processing' and due_at > ",
    now!()
);

const IS_COMPLETED: &str = "
select exists (select 1 from webhook_inbox where id = ?1 and token = ?2 and state = 'completed')";

const FAIL: &str = concat!(
    "
update webhook_inbox set
    state = case when ?3 then 'dead' else 'pending' end,
    settled_at = case when ?3 then ",
    now!(),
    " end,
    due_at = ",
    now!(),
    " + ?4,
    failures = failures + ?5,
    contended = contended + (not ?5),
    last_error = ?6
where id = ?1 and token = ?2 and state = 'processing' and due_at > ",
    now!()
);

const HAND_BACK: &str = concat!(
    "
update webhook_inbox set
    state = 'pending', due_at = ",
    now!(),
    ", hand_backs = hand_backs + 1
where id = ?1 and token = ?2 and state = 'processing' and due_at > ",
    now!()
);
