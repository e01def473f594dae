//! What both stores read and write of an outbox in the same way.

use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use sqlx::types::Uuid;
use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};
use webhook_core::ledger::FencingToken;
use webhook_core::outbox::{
    Attempt, AttemptClass, AttemptId, AttemptRecord, Beat, Change, Delivery, DeliveryId,
    DeliveryRow, DeliveryState, Endpoint, EndpointId, EndpointState, Event, EventId, Filter,
    Health, Limits, Next, SealedSecret, SecretState, Share,
};

use crate::stored::{from_row, unreadable};

/// An endpoint as a row has it. Columns in this order: see `ENDPOINT` of each store.
#[derive(Debug)]
pub(crate) struct EndpointRow {
    pub(crate) id: Uuid,
    pub(crate) version: i64,
    pub(crate) tenant: String,
    pub(crate) url: String,
    /// JSON.
    pub(crate) filter: String,
    pub(crate) scheme: String,
    pub(crate) headers: String,
    pub(crate) state: String,
    pub(crate) state_reason: Option<String>,
    pub(crate) in_flight: i64,
    pub(crate) per_second: Option<i64>,
    pub(crate) is_ordered: bool,
    pub(crate) secrets: String,
    pub(crate) health: HealthRow,
}

from_row!(EndpointRow { id, version, tenant, url, filter, scheme, headers, state, state_reason, in_flight, per_second, is_ordered, secrets } health);

/// An endpoint's health as a row has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HealthRow {
    failures: i64,
    slow: i64,
    is_proven: bool,
    failing_since: Option<i64>,
    open_until: Option<i64>,
    is_noticed: bool,
}

from_row!(HealthRow {
    failures,
    slow,
    is_proven,
    failing_since,
    open_until,
    is_noticed
});

/// A delivery as an operator's look finds it.
#[derive(Debug)]
pub(crate) struct DeliveryFound {
    id: i64,
    endpoint: Uuid,
    tenant: String,
    event_id: String,
    event_type: String,
    state: String,
    attempts: i64,
    last_class: Option<String>,
    last_status: Option<i64>,
    enqueued_at: i64,
    at: i64,
}

from_row!(DeliveryFound {
    id,
    endpoint,
    tenant,
    event_id,
    event_type,
    state,
    attempts,
    last_class,
    last_status,
    enqueued_at,
    at
});

/// What became of the record of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It was on record: the answer to a call before was lost.
    Before,
    /// Its lease was lost, and nothing is on record.
    Lost,
    /// It is on record from now on.
    Now,
}

/// A leased delivery.
#[derive(Debug)]
pub(crate) struct TakenRow {
    id: i64,
    token: i64,
    endpoint: Uuid,
    attempts: i64,
    event_id: String,
    event_type: String,
    payload: Vec<u8>,
}

from_row!(TakenRow {
    id,
    token,
    endpoint,
    attempts,
    event_id,
    event_type,
    payload
});

/// An attempt in the log.
#[derive(Debug)]
pub(crate) struct AttemptRow {
    id: i64,
    delivery: i64,
    attempt: i64,
    ended_at: i64,
    class: String,
    status: Option<i64>,
    address: Option<String>,
    was_allow_listed: bool,
    took_millis: i64,
    answer: Vec<u8>,
}

from_row!(AttemptRow {
    id,
    delivery,
    attempt,
    ended_at,
    class,
    status,
    address,
    was_allow_listed,
    took_millis,
    answer
});

#[derive(Serialize, Deserialize)]
struct StoredSecret {
    key_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retires_at: Option<i64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_revoked: bool,
    sealed_by: String,
    sealed: String,
}

impl EndpointRow {
    pub(crate) fn read(self) -> Result<(Endpoint, Health), sqlx::Error> {
        let patterns: Vec<String> = serde_json::from_str(&self.filter).map_err(|_| unreadable())?;
        let filter = Filter::new(patterns).map_err(|_| unreadable())?;
        let mut endpoint =
            Endpoint::new(&self.tenant, self.url, filter, self.scheme).map_err(|_| unreadable())?;
        endpoint.id = endpoint_id(self.id);
        endpoint.version = self.version;
        endpoint.headers = serde_json::from_str(&self.headers).map_err(|_| unreadable())?;
        endpoint.state =
            EndpointState::from_stored(&self.state, self.state_reason).ok_or_else(unreadable)?;
        endpoint.limits = limits(self.in_flight, self.per_second)?;
        endpoint.is_ordered = self.is_ordered;
        endpoint.secrets = secrets(&self.secrets)?;
        Ok((endpoint, self.health.read()))
    }
}

impl HealthRow {
    pub(crate) fn read(self) -> Health {
        let mut health = Health::default();
        health.failures = u32::try_from(self.failures).unwrap_or(u32::MAX);
        health.slow = u32::try_from(self.slow).unwrap_or(u32::MAX);
        health.is_proven = self.is_proven;
        health.failing_since = self.failing_since;
        health.open_until = self.open_until;
        health.is_noticed = self.is_noticed;
        health
    }
}

impl TakenRow {
    pub(crate) fn read(self) -> Result<Delivery, sqlx::Error> {
        let share = Share {
            delivery: DeliveryId::new(self.id),
            token: FencingToken::new(self.token),
        };
        let event = EventId::new(&self.event_id).map_err(|_| unreadable())?;
        let mut delivery = Delivery::new(
            share,
            endpoint_id(self.endpoint),
            event,
            self.event_type.into(),
            self.payload.into(),
        );
        delivery.attempt = count(self.attempts)?;
        Ok(delivery)
    }
}

impl DeliveryFound {
    pub(crate) fn read(self) -> Result<DeliveryRow, sqlx::Error> {
        let event = EventId::new(&self.event_id).map_err(|_| unreadable())?;
        let mut row = DeliveryRow::new(
            DeliveryId::new(self.id),
            endpoint_id(self.endpoint),
            self.tenant.into(),
            event,
        );
        row.event_type = self.event_type.into();
        row.state = DeliveryState::parse(&self.state).ok_or_else(unreadable)?;
        row.attempts = count(self.attempts)?;
        row.last_class = self.last_class.as_deref().map(class).transpose()?;
        row.last_status = self.last_status.map(status).transpose()?;
        row.enqueued_at = self.enqueued_at;
        row.at = self.at;
        Ok(row)
    }
}

impl AttemptRow {
    pub(crate) fn read(self) -> Result<Attempt, sqlx::Error> {
        let address: Option<IpAddr> = self
            .address
            .map(|address| address.parse().map_err(|_| unreadable()))
            .transpose()?;
        let (id, delivery) = (AttemptId::new(self.id), DeliveryId::new(self.delivery));
        let mut attempt = Attempt::new(id, delivery, class(&self.class)?);
        attempt.attempt = count(self.attempt)?;
        attempt.ended_at_millis = self.ended_at;
        attempt.status = self.status.map(status).transpose()?;
        attempt.address = address;
        attempt.was_allow_listed = self.was_allow_listed;
        attempt.took = Duration::from_millis(self.took_millis.unsigned_abs());
        attempt.answer = self.answer.into();
        Ok(attempt)
    }
}

pub(crate) fn endpoint_id(id: Uuid) -> EndpointId {
    EndpointId::from_bytes(id.into_bytes())
}

pub(crate) fn endpoint_uuid(id: EndpointId) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}

pub(crate) fn limits(in_flight: i64, per_second: Option<i64>) -> Result<Limits, sqlx::Error> {
    let per_second = per_second.map(u32::try_from).transpose();
    let per_second = per_second.map_err(|_| unreadable())?;
    Limits::new(count(in_flight)?, per_second).map_err(|_| unreadable())
}

/// The JSON that the column `secrets` holds.
pub(crate) fn secrets_json(secrets: &[SealedSecret]) -> Result<String, sqlx::Error> {
    let secrets: Vec<StoredSecret> = secrets
        .iter()
        .map(|secret| StoredSecret {
            key_id: secret.key_id.clone(),
            retires_at: match secret.state {
                SecretState::RetiresAt(end) => Some(end),
                _ => None,
            },
            is_revoked: secret.state == SecretState::Revoked,
            sealed_by: secret.sealed_by.clone(),
            sealed: BASE64.encode(&secret.sealed),
        })
        .collect();
    json(&secrets)
}

/// JSON of what cannot fail to be JSON.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(sqlx::Error::decode)
}

/// What an attempt says of its endpoint.
pub(crate) fn beat(record: &AttemptRecord) -> Beat {
    match record.class {
        _ if record.is_gone => Beat::Gone,
        AttemptClass::Delivered if record.was_slow => Beat::Slow,
        AttemptClass::Delivered => Beat::Well,
        AttemptClass::Signing | AttemptClass::Unknown => Beat::Nothing,
        _ => Beat::Failed,
    }
}

/// The state of a delivery after an attempt, and after how many milliseconds it is due.
pub(crate) fn next(next: Next) -> (DeliveryState, i64) {
    match next {
        Next::Delivered => (DeliveryState::Delivered, 0),
        Next::Retry(after) => (
            DeliveryState::Pending,
            i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        ),
        _ => (DeliveryState::Dead, 0),
    }
}

/// The event by which an endpoint's owner hears what became of it, where that is worth telling.
pub(crate) fn notice(
    tenant: &str,
    endpoint: EndpointId,
    change: Change,
) -> Result<Option<Event>, sqlx::Error> {
    let (event_type, reason) = match change {
        Change::Failing => ("webhook.endpoint.failing", None),
        Change::Disabled | Change::Gone => ("webhook.endpoint.disabled", change.disables()),
        _ => return Ok(None),
    };
    let payload = serde_json::json!({
        "type": event_type,
        "data": { "endpoint": endpoint.to_string(), "reason": reason },
    });
    Event::new(tenant, event_type, payload.to_string())
        .map(Some)
        .map_err(sqlx::Error::decode)
}

fn secrets(json: &str) -> Result<Vec<SealedSecret>, sqlx::Error> {
    let secrets: Vec<StoredSecret> = serde_json::from_str(json).map_err(|_| unreadable())?;
    secrets
        .into_iter()
        .map(|secret| {
            let sealed = BASE64.decode(&secret.sealed).map_err(|_| unreadable())?;
            let state = match (secret.is_revoked, secret.retires_at) {
                (true, _) => SecretState::Revoked,
                (false, Some(end)) => SecretState::RetiresAt(end),
                (false, None) => SecretState::Live,
            };
            Ok(SealedSecret::new(secret.key_id, secret.sealed_by, sealed).in_state(state))
        })
        .collect()
}

/// Endpoints that one fan-out looks at: what takes a statement a fraction of a second.
pub(crate) const FAN_OUT_RANGE: i64 = 5000;

fn class(name: &str) -> Result<AttemptClass, sqlx::Error> {
    AttemptClass::parse(name).ok_or_else(unreadable)
}

fn status(status: i64) -> Result<u16, sqlx::Error> {
    status.try_into().map_err(|_| unreadable())
}

fn count(number: i64) -> Result<u32, sqlx::Error> {
    number.try_into().map_err(|_| unreadable())
}
