//! Deliveries that wait, and those a dispatcher holds.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::endpoint::{Endpoint, EndpointId, Limits};
use super::event::EventId;
use super::health::Health;
use crate::ledger::FencingToken;

/// A delivery: one event on its way to one endpoint. Numbers grow in the order of fan-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryId(i64);

/// An endpoint that has something due.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Ready {
    /// Which.
    pub endpoint: EndpointId,
    /// Whose.
    pub tenant: Arc<str>,
    /// How much it takes at once.
    pub limits: Limits,
    /// How it has fared.
    pub health: Health,
}

/// How many deliveries of an endpoint a dispatcher wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Want {
    /// Of which endpoint.
    pub endpoint: EndpointId,
    /// At most this many.
    pub max: u32,
    /// How many may be under way with these, over all processes.
    pub room: u32,
}

/// The exclusive right to attempt a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "two names that belong together")]
pub struct Share {
    /// Which.
    pub delivery: DeliveryId,
    /// Every write must bear it.
    pub token: FencingToken,
}

/// A leased delivery.
#[derive(Clone)]
#[non_exhaustive]
pub struct Delivery {
    /// The lease.
    pub share: Share,
    /// Where to.
    pub endpoint: EndpointId,
    /// Which event.
    pub event: EventId,
    /// Its type.
    pub event_type: Arc<str>,
    /// What is sent.
    pub payload: Bytes,
    /// Which attempt this is, from 1.
    pub attempt: u32,
}

/// What a dispatcher got.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Taken {
    /// Leased deliveries, those of one endpoint oldest due first.
    pub deliveries: Vec<Delivery>,
    /// Their endpoints, each once, as they are at this moment.
    pub endpoints: Vec<Endpoint>,
}

impl DeliveryId {
    /// From its stored number.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl Ready {
    /// For stores.
    pub fn new(endpoint: EndpointId, tenant: Arc<str>, limits: Limits, health: Health) -> Self {
        Self {
            endpoint,
            tenant,
            limits,
            health,
        }
    }
}

impl Want {
    /// At most `max` of `endpoint`, and with these no more than `room` under way.
    pub const fn new(endpoint: EndpointId, max: u32, room: u32) -> Self {
        Self {
            endpoint,
            max,
            room,
        }
    }
}

impl Delivery {
    /// A first attempt, for stores to fill in.
    pub fn new(
        share: Share,
        endpoint: EndpointId,
        event: EventId,
        event_type: Arc<str>,
        payload: Bytes,
    ) -> Self {
        Self {
            share,
            endpoint,
            event,
            event_type,
            payload,
            attempt: 1,
        }
    }
}

impl Taken {
    /// For stores.
    pub fn new(deliveries: Vec<Delivery>, endpoints: Vec<Endpoint>) -> Self {
        Self {
            deliveries,
            endpoints,
        }
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("share", &self.share)
            .field("endpoint", &self.endpoint)
            .field("event", &self.event)
            .field("event_type", &self.event_type)
            .field("payload_bytes", &self.payload.len())
            .field("attempt", &self.attempt)
            .finish()
    }
}
