//! What waited too long, and what need not be kept.

use sqlx::SqliteConnection;
use webhook_core::outbox::{Pruned, Retention};

use crate::stored::millis;

pub(super) async fn prune(
    conn: &mut SqliteConnection,
    what: &Retention,
) -> Result<Pruned, sqlx::Error> {
    let batch = i64::from(what.batch);
    let given_up = sqlx::query(GIVE_UP)
        .bind(millis(what.give_up_after))
        .bind(batch)
        .execute(&mut *conn)
        .await?
        .rows_affected();
    let stranded = sqlx::query(STRANDED)
        .bind(batch)
        .execute(&mut *conn)
        .await?
        .rows_affected();
    let attempts = sqlx::query(ATTEMPTS)
        .bind(millis(what.keep_attempts))
        .bind(batch)
        .execute(&mut *conn)
        .await?
        .rows_affected();
    let old: Vec<i64> = sqlx::query_scalar(OLD)
        .bind(millis(what.keep_events))
        .bind(batch)
        .fetch_all(&mut *conn)
        .await?;
    for event in &old {
        for statement in [ATTEMPTS_OF, DELIVERIES_OF, EVENT] {
            sqlx::query(statement)
                .bind(event)
                .execute(&mut *conn)
                .await?;
        }
    }
    let endpoints = sqlx::query(DELETED)
        .bind(batch)
        .execute(conn)
        .await?
        .rows_affected();
    let given_up = given_up.saturating_add(stranded);
    Ok(Pruned::new(given_up, old.len() as u64, attempts, endpoints))
}

const GIVE_UP: &str = concat!(
    "update webhook_outbox_delivery set state = 'dead', settled_at = ",
    now!(),
    " where id in (
    select id from webhook_outbox_delivery
    where state = 'pending' and waiting_since < ",
    now!(),
    " - ?1 order by waiting_since limit ?2)"
);

/// What waits for an endpoint that is deleted.
const STRANDED: &str = concat!(
    "update webhook_outbox_delivery set state = 'dead', settled_at = ",
    now!(),
    " where id in (
    select delivery.id
    from webhook_outbox_endpoint as endpoint
    cross join webhook_outbox_delivery as delivery
    where endpoint.state = 'deleted' and delivery.endpoint = endpoint.id
      and delivery.state = 'pending'
    limit ?1)"
);

const ATTEMPTS: &str = concat!(
    "delete from webhook_outbox_attempt where id in (
    select id from webhook_outbox_attempt where ended_at < ",
    now!(),
    " - ?1 order by ended_at limit ?2)"
);

/// An event goes with all of its deliveries and their attempts, so long after the last of them was settled.
const OLD: &str = concat!(
    "
select seq from webhook_outbox_event as event
where expanded_at is not null and enqueued_at < ",
    now!(),
    " - ?1
  and not exists (
    select 1 from webhook_outbox_delivery
    where event = event.seq and (state in ('pending', 'sending') or settled_at >= ",
    now!(),
    " - ?1))
order by enqueued_at
limit ?2"
);

const ATTEMPTS_OF: &str = "
delete from webhook_outbox_attempt
where delivery in (select id from webhook_outbox_delivery where event = ?1)";
const DELIVERIES_OF: &str = "delete from webhook_outbox_delivery where event = ?1";
const EVENT: &str = "delete from webhook_outbox_event where seq = ?1";

/// A deleted endpoint goes after the last of its deliveries.
const DELETED: &str = "
delete from webhook_outbox_endpoint where id in (
    select id from webhook_outbox_endpoint as endpoint
    where state = 'deleted' and not exists (
        select 1 from webhook_outbox_delivery as delivery where delivery.endpoint = endpoint.id)
    limit ?1)";
