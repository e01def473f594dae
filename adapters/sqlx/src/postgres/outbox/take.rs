//! Which endpoints have something due, and leases on it.

use std::time::Duration;

use sqlx::types::Uuid;
use sqlx::{ColumnIndex, Connection, Decode, FromRow, PgConnection, Row, Type};
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
    conn: &mut PgConnection,
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
    conn: &mut PgConnection,
    endpoints: &[EndpointId],
) -> Result<Vec<Ready>, sqlx::Error> {
    let mut ids: Vec<Uuid> = endpoints.iter().map(|id| endpoint_uuid(*id)).collect();
    ids.sort_unstable();
    ids.dedup();
    let rows: Vec<ReadyRow> = sqlx::query_as(READY_OF).bind(ids).fetch_all(conn).await?;
    rows.into_iter().map(ReadyRow::read).collect()
}

pub(super) async fn recall(
    conn: &mut PgConnection,
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
    conn: &mut PgConnection,
    wants: &[Want],
    lease: Duration,
    max_bytes: u64,
) -> Result<Taken, sqlx::Error> {
    if wants.is_empty() {
        return Ok(Taken::default());
    }
    let column = |value: fn(&Want) -> i64| wants.iter().map(value).collect::<Vec<i64>>();
    let ids: Vec<Uuid> = wants
        .iter()
        .map(|want| endpoint_uuid(want.endpoint))
        .collect();
    let mut tx = conn.begin().await?;
    let endpoints: Vec<EndpointRow> = sqlx::query_as(HOLD).bind(&ids).fetch_all(&mut *tx).await?;
    let held: Vec<Uuid> = endpoints.iter().map(|endpoint| endpoint.id).collect();
    let rows: Vec<TakenRow> = if held.is_empty() {
        Vec::new()
    } else {
        sqlx::query_as(TAKE)
            .bind(&ids)
            .bind(column(|want| want.max.into()))
            .bind(column(|want| want.room.into()))
            .bind(held)
            .bind(millis(lease))
            .bind(i64::try_from(max_bytes).unwrap_or(i64::MAX))
            .fetch_all(&mut *tx)
            .await?
    };
    tx.commit().await?;
    let deliveries: Vec<_> = rows
        .into_iter()
        .map(TakenRow::read)
        .collect::<Result<_, _>>()?;
    let mut used = Vec::with_capacity(endpoints.len());
    for row in endpoints {
        let id = endpoint_id(row.id);
        if deliveries.iter().any(|delivery| delivery.endpoint == id) {
            used.push(row.read()?.0);
        }
    }
    Ok(Taken::new(deliveries, used))
}

pub(super) async fn hand_back(
    conn: &mut PgConnection,
    mut shares: Vec<Share>,
) -> Result<(), sqlx::Error> {
    // In one order, lest two that hand back at once wait for each other.
    shares.sort_unstable_by_key(|share| share.delivery);
    let (ids, tokens): (Vec<i64>, Vec<i64>) = shares
        .iter()
        .map(|share| (share.delivery.get(), share.token.get()))
        .unzip();
    sqlx::query(HAND_BACK)
        .bind(ids)
        .bind(tokens)
        .execute(conn)
        .await?;
    Ok(())
}

/// From one endpoint that has a delivery waiting to the next, each by one search of an index: a
/// million that wait for one endpoint cost as much as one. Begins behind `$1`.
macro_rules! waiting {
    () => {
        "with recursive waiting (id) as (
    (select endpoint from webhook.outbox_delivery
     where state = 'pending' and endpoint > $1 order by endpoint limit 1)
    union all
    select (select endpoint from webhook.outbox_delivery
            where state = 'pending' and endpoint > waiting.id order by endpoint limit 1)
    from waiting where waiting.id is not null
)"
    };
}

/// Of the rows of `waiting` those that are ready, in their order. `offset 0` keeps them in it, which a join of
/// another kind would lose.
macro_rules! ready {
    () => {
        "
select endpoint.*
from waiting
cross join lateral (
    select id, tenant, in_flight, per_second, failures, slow, is_proven, failing_since, open_until,
        is_noticed
    from webhook.outbox_endpoint
    where id = waiting.id and state = 'enabled'
      and (open_until is null
        or open_until <= (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint)
      and exists (
        select from webhook.outbox_delivery
        where endpoint = waiting.id and state = 'pending'
          and due_at <= (select pg_catalog.clock_timestamp())
        offset 0)
    offset 0
) as endpoint
"
    };
}

const READY: &str = concat!(waiting!(), ready!(), "limit $2");
const READY_OF: &str = concat!(
    "with waiting (id) as materialized (select unnest($1::uuid[]))",
    ready!()
);

/// What is due later than any pause lasts.
const RECALL: &str = concat!(
    waiting!(),
    ", late as materialized (
    select late.id
    from waiting
    cross join lateral (
        select id from webhook.outbox_delivery
        where endpoint = waiting.id and state = 'pending'
          and due_at > (select pg_catalog.clock_timestamp()) + $2::bigint * interval '1 millisecond'
        order by due_at desc
        limit $3
        for update skip locked
    ) as late
    limit $3
)
update webhook.outbox_delivery as delivery set due_at = pg_catalog.clock_timestamp()
from late where delivery.id = late.id"
);

const CLOSE_LATE: &str = "
update webhook.outbox_endpoint set
    open_until = (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint
where open_until > (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint + $1";

/// Whoever holds an endpoint's row alone counts what is under way there. Others are passed over, not
/// waited for.
const HOLD: &str = concat!(
    endpoint_columns!(),
    " where id = any($1) and state = 'enabled' order by id for no key update skip locked"
);

/// `offset 0` makes each look one search of an index. Columns in `coalesce` are in disguise, lest the
/// planner, who knows nothing of a new table, look there by an index that has a million entries for them.
///
/// In an ordered endpoint only the first unsettled delivery of a key may go, and none beside one that is
/// under way: one that was sent again comes before those that were not. Deliveries without a key have the empty one. The heads of keys are
/// looked for among the first that are due; where these do not fill the places, since many wait behind
/// one, from key to key. So a million that wait behind one head cost as much as a hundred.
const TAKE: &str = "
with want as materialized (
    select endpoint, max, room, is_ordered
    from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as want (endpoint, max, room)
    join webhook.outbox_endpoint on id = want.endpoint
    where want.endpoint = any($4)
), allowed as materialized (
    select endpoint, is_ordered, greatest(0, least(max, room - (
        select pg_catalog.count(*) from webhook.outbox_delivery as under_way
        where under_way.endpoint = want.endpoint and state = 'sending'))) as most
    from want
), free as materialized (
    select due.id, due.size, due.due_at
    from allowed
    cross join lateral (
        select id, size, due_at
        from webhook.outbox_delivery as delivery
        where delivery.endpoint = allowed.endpoint and state = 'pending'
          and due_at <= (select pg_catalog.clock_timestamp())
        order by due_at
        limit allowed.most
        for update skip locked
    ) as due
    where not allowed.is_ordered
), heads as materialized (
    select due.id, due.size, due.due_at
    from allowed
    cross join lateral (
        with recursive near as materialized (
            select id
            from (
                select id, endpoint, order_key
                from webhook.outbox_delivery
                where endpoint = allowed.endpoint and state = 'pending'
                  and due_at <= (select pg_catalog.clock_timestamp())
                order by due_at
                limit 100
            ) as delivery
            where coalesce(order_key, '') = '' or not exists (
                select from webhook.outbox_delivery as earlier
                where earlier.endpoint = delivery.endpoint and earlier.order_key = delivery.order_key
                  and earlier.id < delivery.id and earlier.state in ('pending', 'sending')
                offset 0)
        ), keys (order_key) as (
            (select order_key from webhook.outbox_delivery
             where endpoint = allowed.endpoint and order_key > '' and state in ('pending', 'sending')
               and (select pg_catalog.count(*) from near) < allowed.most
             order by order_key limit 1)
            union all
            select (select order_key from webhook.outbox_delivery
                    where endpoint = allowed.endpoint and order_key > keys.order_key
                      and state in ('pending', 'sending')
                    order by order_key limit 1)
            from keys where keys.order_key is not null
        ), far as (
            select (select id from webhook.outbox_delivery
                    where endpoint = allowed.endpoint and order_key = keys.order_key
                      and state in ('pending', 'sending')
                    order by id limit 1) as id
            from keys where keys.order_key is not null
            limit 10000
        ), keyless as (
            select id from webhook.outbox_delivery
            where endpoint = allowed.endpoint and order_key = '' and state in ('pending', 'sending')
              and state = 'pending' and due_at <= (select pg_catalog.clock_timestamp())
            order by id
            limit allowed.most
        ), candidate as materialized (
            select id from near union select id from far union select id from keyless
        )
        select delivery.id, delivery.size, delivery.due_at
        from candidate
        join webhook.outbox_delivery as delivery using (id)
        where coalesce(delivery.state, '') = 'pending'
          and delivery.due_at <= (select pg_catalog.clock_timestamp())
          and (coalesce(delivery.order_key, '') = '' or not exists (
            select from webhook.outbox_delivery as under_way
            where under_way.endpoint = allowed.endpoint and under_way.state = 'sending'
              and coalesce(under_way.order_key, '') = delivery.order_key
            offset 0))
        order by delivery.due_at
        limit allowed.most
        for update of delivery skip locked
    ) as due
    where allowed.is_ordered and allowed.most > 0
), picked as materialized (
    select id, size, due_at from free union all select id, size, due_at from heads
), fitting as materialized (
    select id, pg_catalog.sum(size) over before as bytes, pg_catalog.row_number() over before as nth
    from picked
    window before as (order by due_at, id rows unbounded preceding)
), taken as (
    update webhook.outbox_delivery as delivery set
        state = 'sending', token = nextval('webhook.outbox_token'), attempts = attempts + 1,
        due_at = pg_catalog.clock_timestamp() + $5::bigint * interval '1 millisecond'
    from fitting
    where delivery.id = fitting.id and (bytes <= $6 or nth = 1)
    returning delivery.id, token, endpoint, event, attempts, nth
)
select taken.id, token, endpoint, attempts, event.id as event_id, event_type, payload
from taken join webhook.outbox_event as event on event.seq = taken.event
order by nth";

const HAND_BACK: &str = "
update webhook.outbox_delivery as delivery set
    state = 'pending', due_at = pg_catalog.clock_timestamp(), token = null, attempts = attempts - 1
from unnest($1::bigint[], $2::bigint[]) as back (id, token)
where delivery.id = back.id and delivery.token = back.token and state = 'sending'";
