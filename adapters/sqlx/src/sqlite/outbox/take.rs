//! Which endpoints have something due, and leases on it.

use std::time::Duration;

use sqlx::types::Uuid;
use sqlx::{ColumnIndex, Decode, FromRow, Row, SqliteConnection, Type};
use webhook_core::outbox::{EndpointId, Ready, Share, Taken, Want};

use super::endpoint::endpoint_columns;
use crate::outbox::{EndpointRow, HealthRow, TakenRow, endpoint_id, endpoint_uuid, limits};
use crate::stored::{from_row, millis};

#[derive(Debug)]
struct ReadyRow {
    id: Uuid,
    tenant: String,
    in_flight: i64,
    per_second: Option<i64>,
    health: HealthRow,
}

from_row!(ReadyRow { id, tenant, in_flight, per_second } health);

impl ReadyRow {
    fn read(self) -> Result<Ready, sqlx::Error> {
        Ok(Ready::new(
            endpoint_id(self.id),
            self.tenant.into(),
            limits(self.in_flight, self.per_second)?,
            self.health.read(),
        ))
    }
}

pub(super) async fn ready(
    conn: &mut SqliteConnection,
    after: Option<EndpointId>,
    limit: u32,
) -> Result<Vec<Ready>, sqlx::Error> {
    let rows: Vec<ReadyRow> = sqlx::query_as(READY)
        .bind(after.map_or_else(Uuid::nil, endpoint_uuid))
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await?;
    rows.into_iter().map(ReadyRow::read).collect()
}

pub(super) async fn ready_of(
    conn: &mut SqliteConnection,
    endpoints: &[EndpointId],
) -> Result<Vec<Ready>, sqlx::Error> {
    let mut ids: Vec<Uuid> = endpoints.iter().map(|id| endpoint_uuid(*id)).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut all = Vec::new();
    for id in ids {
        let row: Option<ReadyRow> = sqlx::query_as(IS_READY)
            .bind(id)
            .fetch_optional(&mut *conn)
            .await?;
        all.extend(row.map(ReadyRow::read).transpose()?);
    }
    Ok(all)
}

pub(super) async fn recall(
    conn: &mut SqliteConnection,
    longest_pause: Duration,
    longest_open: Duration,
    batch: u32,
) -> Result<u64, sqlx::Error> {
    let opened = sqlx::query(CLOSE_LATE).bind(millis(longest_open));
    let opened = opened.execute(&mut *conn).await?.rows_affected();
    let waiting = sqlx::query(RECALL)
        .bind(Uuid::nil())
        .bind(millis(longest_pause))
        .bind(i64::from(batch))
        .execute(conn)
        .await?;
    Ok(opened.saturating_add(waiting.rows_affected()))
}

pub(super) async fn take(
    conn: &mut SqliteConnection,
    wants: &[Want],
    lease: Duration,
    max_bytes: u64,
) -> Result<Taken, sqlx::Error> {
    let mut left = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    let (mut deliveries, mut endpoints) = (Vec::new(), Vec::new());
    for want in wants {
        let id = endpoint_uuid(want.endpoint);
        let endpoint: Option<EndpointRow> = sqlx::query_as(ENABLED)
            .bind(id)
            .fetch_optional(&mut *conn)
            .await?;
        let Some(endpoint) = endpoint else { continue };
        let due = if endpoint.is_ordered { HEADS } else { DUE };
        let due: Vec<(i64, i64)> = sqlx::query_as(due)
            .bind(id)
            .bind(i64::from(want.max))
            .bind(i64::from(want.room))
            .fetch_all(&mut *conn)
            .await?;
        let before = deliveries.len();
        for (delivery, size) in due {
            if left < size && !deliveries.is_empty() {
                break;
            }
            left = left.saturating_sub(size);
            sqlx::query(NEXT_TOKEN).execute(&mut *conn).await?;
            sqlx::query(TAKE)
                .bind(delivery)
                .bind(millis(lease))
                .execute(&mut *conn)
                .await?;
            let row: TakenRow = sqlx::query_as(TAKEN)
                .bind(delivery)
                .fetch_one(&mut *conn)
                .await?;
            deliveries.push(row.read()?);
        }
        if deliveries.len() > before {
            endpoints.push(endpoint.read()?.0);
        }
    }
    Ok(Taken::new(deliveries, endpoints))
}

pub(super) async fn hand_back(
    conn: &mut SqliteConnection,
    shares: &[Share],
) -> Result<(), sqlx::Error> {
    for share in shares {
        sqlx::query(HAND_BACK)
            .bind(share.delivery.get())
            .bind(share.token.get())
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}

/// From one endpoint that has a delivery waiting to the next, each by one search of an index: a
/// million that wait for one endpoint cost as much as one. Begins behind `?1`.
macro_rules! waiting {
    () => {
        "with recursive waiting (id) as (
    select * from (select endpoint from webhook_outbox_delivery
        where state = 'pending' and endpoint > ?1 order by endpoint limit 1)
    union all
    select (select endpoint from webhook_outbox_delivery
            where state = 'pending' and endpoint > waiting.id order by endpoint limit 1)
    from waiting where waiting.id is not null
)"
    };
}

/// Of the rows of `waiting` those that are ready, in their order: a `cross join` keeps it.
macro_rules! ready {
    () => {
        concat!(
            "
select endpoint.id, tenant, in_flight, per_second, failures, slow, is_proven, failing_since, open_until,
    is_noticed
from waiting
cross join webhook_outbox_endpoint as endpoint on endpoint.id = waiting.id
where endpoint.state = 'enabled' and (open_until is null or open_until <= ",
            now!(),
            ")
  and exists (
    select 1 from webhook_outbox_delivery
    where endpoint = waiting.id and state = 'pending' and due_at <= ",
            now!(),
            ")
"
        )
    };
}

const READY: &str = concat!(waiting!(), ready!(), "limit ?2");
const IS_READY: &str = concat!("with waiting (id) as (select ?1)", ready!());

/// What is due later than any pause lasts.
const RECALL: &str = concat!(
    waiting!(),
    "
update webhook_outbox_delivery set due_at = ",
    now!(),
    " where id in (
    select delivery.id
    from waiting
    cross join webhook_outbox_delivery as delivery
    where delivery.endpoint = waiting.id and delivery.state = 'pending' and delivery.due_at > ",
    now!(),
    " + ?2
    limit ?3)"
);

const CLOSE_LATE: &str = concat!(
    "update webhook_outbox_endpoint set open_until = ",
    now!(),
    " where open_until > ",
    now!(),
    " + ?1"
);

const ENABLED: &str = concat!(endpoint_columns!(), " where id = ?1 and state = 'enabled'");

/// How many of the endpoint `?1` may begin.
macro_rules! most {
    () => {
        "max(0, min(?2, ?3 - (
    select count(*) from webhook_outbox_delivery where endpoint = ?1 and state = 'sending')))"
    };
}

const DUE: &str = concat!(
    "
select id, size from webhook_outbox_delivery
where endpoint = ?1 and state = 'pending' and due_at <= ",
    now!(),
    "
order by due_at
limit ",
    most!()
);

/// Of an ordered endpoint: only the first unsettled delivery of a key may go, and none beside one that is
/// under way: one that was sent again comes before those that were not. Deliveries without a key have the
/// empty one. The heads of keys are looked for among the first that are due; where these do not fill the
/// places, since many wait behind one, from key to key. So a million that wait behind one head cost as
/// much as a hundred. Columns with a plus are not looked for by an index.
const HEADS: &str = concat!(
    "
with recursive near (id) as materialized (
    select id
    from (
        select id, endpoint, order_key from webhook_outbox_delivery
        where endpoint = ?1 and state = 'pending' and due_at <= ",
    now!(),
    " order by due_at limit 100
    ) as delivery
    where coalesce(order_key, '') = '' or not exists (
        select 1 from webhook_outbox_delivery as earlier
        where earlier.endpoint = delivery.endpoint and earlier.order_key = delivery.order_key
          and earlier.id < delivery.id and earlier.state in ('pending', 'sending'))
), keys (order_key) as (
    select * from (select order_key from webhook_outbox_delivery
        where endpoint = ?1 and order_key > '' and state in ('pending', 'sending')
          and (select count(*) from near) < ?2
        order by order_key limit 1)
    union all
    select (select order_key from webhook_outbox_delivery
            where endpoint = ?1 and order_key > keys.order_key and state in ('pending', 'sending')
            order by order_key limit 1)
    from keys where keys.order_key is not null
    limit 10000
), far (id) as (
    select (select id from webhook_outbox_delivery
            where endpoint = ?1 and order_key = keys.order_key and state in ('pending', 'sending')
            order by id limit 1)
    from keys where keys.order_key is not null
), keyless (id) as (
    select id from webhook_outbox_delivery
    where endpoint = ?1 and order_key = '' and state in ('pending', 'sending')
      and state = 'pending' and due_at <= ",
    now!(),
    "
    order by id
    limit ?2
), candidate (id) as materialized (
    select id from near union select id from far union select id from keyless
)
select delivery.id, size
from candidate
cross join webhook_outbox_delivery as delivery
where delivery.id = candidate.id and +state = 'pending' and +due_at <= ",
    now!(),
    "
  and (coalesce(order_key, '') = '' or not exists (
    select 1 from webhook_outbox_delivery as under_way
    where under_way.endpoint = ?1 and under_way.state = 'sending'
      and +under_way.order_key = delivery.order_key))
order by due_at
limit ",
    most!()
);

const NEXT_TOKEN: &str = "update webhook_outbox_token set value = value + 1";

const TAKE: &str = concat!(
    "
update webhook_outbox_delivery set
    state = 'sending', token = (select value from webhook_outbox_token), attempts = attempts + 1,
    due_at = ",
    now!(),
    " + ?2
where id = ?1"
);

const TAKEN: &str = "
select delivery.id, token, endpoint, attempts, event.id as event_id, event_type, payload
from webhook_outbox_delivery as delivery
join webhook_outbox_event as event on event.seq = delivery.event
where delivery.id = ?1";

const HAND_BACK: &str = concat!(
    "
update webhook_outbox_delivery set
    state = 'pending', due_at = ",
    now!(),
    ", token = null, attempts = attempts - 1
where id = ?1 and token = ?2 and state = 'sending'"
);
