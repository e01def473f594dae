//! Endpoints: compared and set as a whole.

use sqlx::SqliteConnection;
use webhook_core::outbox::{Endpoint, EndpointId, EndpointState, Health, Put};

use crate::outbox::{EndpointRow, endpoint_uuid, json, secrets_json};

pub(super) async fn put(
    conn: &mut SqliteConnection,
    endpoint: &Endpoint,
) -> Result<Put, sqlx::Error> {
    let (state, reason) = endpoint.state.stored();
    let is_deleted = endpoint.state == EndpointState::Deleted;
    let secrets = if is_deleted {
        &[][..]
    } else {
        &endpoint.secrets
    };
    let statement = if endpoint.version == 0 {
        INSERT
    } else {
        UPDATE
    };
    let version: Option<i64> = sqlx::query_scalar(statement)
        .bind(endpoint_uuid(endpoint.id))
        .bind(endpoint.version)
        .bind(&*endpoint.tenant)
        .bind(&endpoint.url)
        .bind(json(&endpoint.filter.patterns())?)
        .bind(&endpoint.scheme)
        .bind(json(&endpoint.headers)?)
        .bind(state)
        .bind(reason)
        .bind(i64::from(endpoint.limits.in_flight))
        .bind(endpoint.limits.per_second.map(i64::from))
        .bind(endpoint.is_ordered)
        .bind(secrets_json(secrets)?)
        .fetch_optional(conn)
        .await?;
    Ok(version.map_or(Put::Stale, Put::Stored))
}

pub(super) async fn one(
    conn: &mut SqliteConnection,
    id: EndpointId,
) -> Result<Option<(Endpoint, Health)>, sqlx::Error> {
    let row: Option<EndpointRow> = sqlx::query_as(concat!(endpoint_columns!(), " where id = ?1"))
        .bind(endpoint_uuid(id))
        .fetch_optional(conn)
        .await?;
    row.map(EndpointRow::read).transpose()
}

pub(super) async fn page(
    conn: &mut SqliteConnection,
    tenant: Option<&str>,
    after: Option<EndpointId>,
    limit: u32,
) -> Result<Vec<(Endpoint, Health)>, sqlx::Error> {
    let after = after.map_or_else(sqlx::types::Uuid::nil, endpoint_uuid);
    let rows: Vec<EndpointRow> = match tenant {
        Some(tenant) => {
            sqlx::query_as(OF_TENANT)
                .bind(after)
                .bind(i64::from(limit))
                .bind(tenant)
                .fetch_all(conn)
                .await?
        }
        None => {
            sqlx::query_as(OF_ALL)
                .bind(after)
                .bind(i64::from(limit))
                .fetch_all(conn)
                .await?
        }
    };
    rows.into_iter().map(EndpointRow::read).collect()
}

macro_rules! endpoint_columns {
    () => {
        "select id, version, tenant, url, filter, scheme, \
         headers, state, state_reason, in_flight, per_second, is_ordered, secrets, failures, slow, \
         is_proven, failing_since, open_until, is_noticed from webhook_outbox_endpoint"
    };
}
pub(super) use endpoint_columns;

const OF_TENANT: &str = concat!(
    endpoint_columns!(),
    " where id > ?1 and tenant = ?3 order by id limit ?2"
);
const OF_ALL: &str = concat!(endpoint_columns!(), " where id > ?1 order by id limit ?2");

const INSERT: &str = "
insert into webhook_outbox_endpoint (id, version, tenant, url, filter, scheme, headers, state,
    state_reason, in_flight, per_second, is_ordered, secrets)
values (?1, ?2 + 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
on conflict (id) do nothing
returning version";

/// The right-hand sides see the row as it was.
const UPDATE: &str = "
update webhook_outbox_endpoint set
    version = version + 1, tenant = ?3, url = ?4, filter = ?5, scheme = ?6, headers = ?7, state = ?8,
    state_reason = ?9, in_flight = ?10, per_second = ?11, is_ordered = ?12, secrets = ?13,
    failures = case when is_afresh then 0 else failures end,
    slow = case when is_afresh then 0 else slow end,
    is_proven = is_proven and not is_afresh,
    failing_since = case when not is_afresh then failing_since end,
    open_until = case when not is_afresh then open_until end,
    is_noticed = is_noticed and not is_afresh
from (select id as it, state <> 'enabled' and ?8 = 'enabled' as is_afresh
      from webhook_outbox_endpoint where id = ?1) as was
where id = was.it and version = ?2 and state <> 'deleted'
returning version";
