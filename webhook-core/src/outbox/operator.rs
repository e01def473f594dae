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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Expanded {
    /// Events that are fanned out, whole.
    pub events: u64,
    /// Deliveries that were made.
    pub deliveries: u64,
    /// Whether there is more to do at once: events, or endpoints of an event.
    pub is_partial: bool,
    /// The endpoints that have a new delivery, each once. A hint: of very many, some.
    pub endpoints: Vec<EndpointId>,
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
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Pruned {
    /// Deliveries that are dead now.
    pub given_up: u64,
    /// Events that are gone, with their deliveries.
    pub events: u64,
    /// Attempts that are gone.
    pub attempts: u64,
    /// Deleted endpoints that are gone, the last of their deliveries before them.
    pub endpoints: u64,
}

impl Expanded {
    /// For stores.
    pub fn new(events: u64, deliveries: u64) -> Self {
        Self {
            events,
            deliveries,
            ..Self::default()
        }
    }
}

impl Search {
    /// The newest deliveries, at most `limit`.
    pub fn newest(limit: u32) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Of this tenant alone.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// To this endpoint alone.
    #[must_use]
    pub fn endpoint(mut self, endpoint: EndpointId) -> Self {
        self.endpoint = Some(endpoint);
        self
    }

    /// Of this event alone.
    #[must_use]
    pub fn event(mut self, event: EventId) -> Self {
        self.event = Some(event);
        self
    }

    /// In this state alone.
    #[must_use]
    pub fn state(mut self, state: DeliveryState) -> Self {
        self.state = Some(state);
        self
    }

    /// Before the last of the page before.
    #[must_use]
    pub fn before(mut self, delivery: DeliveryId) -> Self {
        self.before = Some(delivery);
        self
    }
}

impl DeliveryRow {
    /// A delivery that waits for its first attempt, for stores to fill in.
    pub fn new(id: DeliveryId, endpoint: EndpointId, tenant: Arc<str>, event: EventId) -> Self {
        Self {
            id,
            endpoint,
            tenant,
            event,
            event_type: "".into(),
            state: DeliveryState::Pending,
            attempts: 0,
            last_class: None,
            last_status: None,
            enqueued_at: 0,
            at: 0,
        }
    }
}

/// Deliveries are given up after 5 days; events and attempts go after 14; a thousand rows at a time.
impl Default for Retention {
    fn default() -> Self {
        Self {
            give_up_after: Duration::from_hours(5 * 24),
            keep_events: Duration::from_hours(14 * 24),
            keep_attempts: Duration::from_hours(14 * 24),
            batch: 1000,
        }
    }
}

impl Pruned {
    /// For stores.
    pub fn new(given_up: u64, events: u64, attempts: u64, endpoints: u64) -> Self {
        Self {
            given_up,
            events,
            attempts,
            endpoints,
        }
    }
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
    pub fn is_nothing(&self) -> bool {
        *self == Self::new(0, 0, 0, 0)
    }
}
