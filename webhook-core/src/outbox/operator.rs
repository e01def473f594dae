//! What operators ask of an outbox and are told.

use std::sync::Arc;
use std::time::Duration;

use super::attempt::AttemptClass;
use super::delivery::DeliveryId;
use super::endpoint::EndpointId;
use super::event::EventId;
use super::health::Change;

/// What became of an endpoint that was to be stored.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// Somebody changed it meanwhile, or it was deleted: read it again.
    Stale,
    /// It is stored under this version.
    Stored(i64),
}

/// What a fan-out did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "two numbers")]
pub struct Expanded {
    /// Events that were fanned out.
    pub events: u64,
    /// Deliveries that came of them.
    pub deliveries: u64,
}

/// What came of a record of attempts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Recorded {
    /// For each attempt, in order, whether its lease was still held.
    pub held: Vec<bool>,
    /// What became of endpoints.
    pub changes: Vec<(EndpointId, Change)>,
}

/// The state of a delivery.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// Attempts used up, hopeless, waited too long, or its endpoint is gone.
    Dead,
    /// Answered 2xx.
    Delivered,
    /// Waits for its next attempt.
    Pending,
    /// An attempt is under way.
    Sending,
}

/// Which deliveries to look for.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "an argument list with names")]
pub struct Search {
    /// Of this tenant.
    pub tenant: Option<String>,
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
    /// Of this event.
    pub event: Option<EventId>,
    /// In this state.
    pub state: Option<DeliveryState>,
    /// Before the last of the page before.
    pub before: Option<DeliveryId>,
    /// At most this many.
    pub limit: u32,
}

/// A delivery as it stands.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "stores fill it from a row")]
pub struct DeliveryRow {
    /// Which.
    pub id: DeliveryId,
    /// Where to.
    pub endpoint: EndpointId,
    /// Whose.
    pub tenant: Arc<str>,
    /// Which event.
    pub event: EventId,
    /// Its type.
    pub event_type: Arc<str>,
    /// Its state.
    pub state: DeliveryState,
    /// Attempts begun.
    pub attempts: u32,
    /// How the last one ended.
    pub last_class: Option<AttemptClass>,
    /// The last answer's status.
    pub last_status: Option<u16>,
    /// When the event was enqueued, in Unix seconds of the store's clock.
    pub enqueued_at: i64,
    /// When the next attempt is due or the lease of this one ends; when it was settled. In Unix seconds
    /// of the store's clock.
    pub at: i64,
}

/// Which settled deliveries to send again.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resend {
    /// Every dead one of an endpoint that was enqueued in the last so many seconds.
    DeadOf {
        /// The endpoint.
        endpoint: EndpointId,
        /// How long ago at most.
        since: Duration,
    },
    /// This one, delivered or dead.
    One(DeliveryId),
    /// Every settled one of an endpoint, delivered or dead, from one number to another, both included.
    Range {
        /// The endpoint.
        endpoint: EndpointId,
        /// The first.
        first: DeliveryId,
        /// The last.
        last: DeliveryId,
    },
}

/// How long things are kept.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "an argument list with names")]
pub struct Retention {
    /// A delivery that waited this long since its event was enqueued is dead. Longer than the schedule.
    pub give_up_after: Duration,
    /// Events, with their deliveries, this long after all of them were settled. Their
    /// idempotency keys are free again then.
    pub keep_events: Duration,
    /// Attempts, this long after they ended.
    pub keep_attempts: Duration,
    /// At most this many rows of each kind.
    pub batch: u32,
}

/// What was given up and forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "three numbers")]
pub struct Pruned {
    /// Deliveries that are dead now.
    pub given_up: u64,
    /// Events that are gone, with their deliveries.
    pub events: u64,
    /// Attempts that are gone.
    pub attempts: u64,
}

impl Recorded {
    /// For stores.
    pub fn new(held: Vec<bool>, changes: Vec<(EndpointId, Change)>) -> Self {
        Self { held, changes }
    }
}

impl DeliveryState {
    /// Its name in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dead => "dead",
            Self::Delivered => "delivered",
            Self::Pending => "pending",
            Self::Sending => "sending",
        }
    }

    /// From its name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Dead, Self::Delivered, Self::Pending, Self::Sending]
            .into_iter()
            .find(|state| state.as_str() == name)
    }
}

impl Pruned {
    /// Whether there was nothing to do.
    pub const fn is_nothing(&self) -> bool {
        self.given_up == 0 && self.events == 0 && self.attempts == 0
    }
}
