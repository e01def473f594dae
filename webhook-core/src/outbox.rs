//! The durable record of events to send and what became of each delivery, as a trait.
//!
//! An event is enqueued in the transaction of the change it reports, as one row. A dispatcher fans it
//! out, once, to the endpoints whose filter matches; each of these *deliveries* is then attempted, on
//! its own schedule, until the endpoint answers 2xx. Delivery is at least once: a dispatcher that dies
//! between the endpoint's answer and its record sends again, under the same id, by which the receiver
//! makes it once.

use std::fmt::Debug;
use std::time::Duration;

use crate::ledger::LedgerError;

mod attempt;
mod delivery;
mod endpoint;
mod enqueue;
mod event;
mod filter;
mod health;
mod operator;

pub use attempt::{Attempt, AttemptClass, AttemptId, AttemptRecord, Next};
pub use delivery::{Delivery, DeliveryId, Ready, Share, Taken, Want};
pub use endpoint::{
    Endpoint, EndpointId, EndpointState, InvalidEndpoint, Limits, SealedSecret, SecretState,
};
pub use enqueue::{EnqueueError, Enqueued};
pub use event::{Event, EventId, InvalidEvent, MAX_PAYLOAD_BYTES};
pub use filter::{Filter, InvalidFilter};
pub use health::{Beat, Change, Health, HealthPolicy, Repute};
pub use operator::{
    DeliveryRow, DeliveryState, Expanded, Pruned, Put, Recorded, Resend, Retention, Search,
};

/// A durable store of events to send, endpoints, deliveries and attempts.
///
/// Every operation is complete or has not happened, whether or not its caller still waits. All
/// schedules, leases and ages are reckoned on the store's clock; callers pass durations.
pub trait Outbox: Clone + Debug + Send + Sync + 'static {
    /// The application's connection, for example `PgConnection`.
    type Conn: Send + 'static;

    /// Migrate the schema and check that the store is as durable as promised. Safe when several
    /// replicas start at once.
    ///
    /// # Errors
    ///
    /// A store that is unreachable, unsafe, or newer than this library can read.
    fn prepare(&self) -> impl Future<Output = Result<(), LedgerError>> + Send;

    /// Keep `event` to be sent if, and only if, the caller's transaction commits.
    ///
    /// One row; nobody is told before the commit, and no lock of the whole database is taken. Under an
    /// idempotency key that its tenant used before, the earlier event is returned and nothing is
    /// stored; while another transaction that used the key is open, this one waits for it.
    ///
    /// # Errors
    ///
    /// [`EnqueueError::Conflict`] if the key was used for another type or payload; the store's.
    fn enqueue(
        &self,
        conn: &mut Self::Conn,
        event: Event,
    ) -> impl Future<Output = Result<Enqueued, EnqueueError>> + Send;

    /// Store `endpoint` if it has the version that the store has: 0 for one that is new. The store then
    /// gives it the next version. Its state of health is not touched, unless it is enabled again:
    /// then it starts afresh.
    ///
    /// # Errors
    ///
    /// The store's.
    fn put(&self, endpoint: Endpoint) -> impl Future<Output = Result<Put, LedgerError>> + Send;

    /// One endpoint and its health.
    ///
    /// # Errors
    ///
    /// The store's.
    fn endpoint(
        &self,
        id: EndpointId,
    ) -> impl Future<Output = Result<Option<(Endpoint, Health)>, LedgerError>> + Send;

    /// Endpoints in the order of their ids, of one tenant or of all, after the last of the page before.
    ///
    /// # Errors
    ///
    /// The store's.
    fn endpoints(
        &self,
        tenant: Option<&str>,
        after: Option<EndpointId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<(Endpoint, Health)>, LedgerError>> + Send;

    /// Fan out at most `max_events` events, oldest first, to the endpoints of their tenant that are
    /// enabled or paused and whose filter matches. Each event is expanded once; the endpoints are those
    /// of this moment. Of an event for very many endpoints a call makes a few thousand deliveries, in
    /// the order of the endpoints' ids, and the next call goes on behind them. One process at a time does so; to the others there is nothing to do.
    ///
    /// # Errors
    ///
    /// The store's.
    fn expand(&self, max_events: u32)
    -> impl Future<Output = Result<Expanded, LedgerError>> + Send;

    /// At most `limit` endpoints, in the order of their ids after `after`, that have a due delivery, are
    /// enabled, and whose breaker lets a delivery pass.
    ///
    /// Costs a look at each endpoint with a waiting delivery, however many deliveries wait there.
    ///
    /// # Errors
    ///
    /// The store's.
    fn ready(
        &self,
        after: Option<EndpointId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Ready>, LedgerError>> + Send;

    /// Which of `endpoints` are as [`Outbox::ready`] says, in the order of their ids.
    ///
    /// Costs a look at each of them, whatever waits for others.
    ///
    /// # Errors
    ///
    /// The store's.
    fn ready_of(
        &self,
        endpoints: Vec<EndpointId>,
    ) -> impl Future<Output = Result<Vec<Ready>, LedgerError>> + Send;

    /// Lease due deliveries and begin an attempt of each: oldest due first, for each enabled endpoint no
    /// more than wanted and than it has room for; together at most `max_bytes` of payload, but always
    /// one. Endpoints that another process takes from at this moment are passed over.
    ///
    /// In an ordered endpoint a delivery waits for those before it that have its order key and are not
    /// settled.
    ///
    /// # Errors
    ///
    /// The store's.
    fn take(
        &self,
        wants: Vec<Want>,
        lease: Duration,
        max_bytes: u64,
    ) -> impl Future<Output = Result<Taken, LedgerError>> + Send;

    /// Record how attempts ended, each under its fencing token, and what that makes of their
    /// endpoints' health. In [`Recorded::held`] `false` stands for an attempt whose lease was lost:
    /// nothing of it is recorded. What a call before recorded, without its caller hearing of it, is held
    /// and is not recorded again.
    ///
    /// # Errors
    ///
    /// The store's. It is not known what was recorded; the same call may be made again.
    fn record(
        &self,
        attempts: Vec<AttemptRecord>,
        policy: HealthPolicy,
    ) -> impl Future<Output = Result<Recorded, LedgerError>> + Send;

    /// Give back deliveries that were leased and not dialled: due at once, the attempt not counted.
    ///
    /// # Errors
    ///
    /// The store's.
    fn hand_back(&self, shares: Vec<Share>)
    -> impl Future<Output = Result<(), LedgerError>> + Send;

    /// Let at most `batch` deliveries whose lease ran out be due again, and enter their attempts into the
    /// log as [`AttemptClass::Unknown`]: it may or may not have reached the endpoint. Beyond
    /// `max_attempts` they are dead. How many there were.
    ///
    /// # Errors
    ///
    /// The store's.
    fn rescue(
        &self,
        max_attempts: u32,
        batch: u32,
    ) -> impl Future<Output = Result<u64, LedgerError>> + Send;

    /// Forget what need not be kept any more, and give up what waited too long, at most `what.batch`
    /// rows of each kind. Safe on several replicas at once.
    ///
    /// # Errors
    ///
    /// The store's.
    fn prune(&self, what: Retention) -> impl Future<Output = Result<Pruned, LedgerError>> + Send;

    /// Look for deliveries, newest first.
    ///
    /// # Errors
    ///
    /// The store's.
    fn find(
        &self,
        what: Search,
    ) -> impl Future<Output = Result<Vec<DeliveryRow>, LedgerError>> + Send;

    /// The attempts of a delivery, oldest first, at most 100 of the newest.
    ///
    /// # Errors
    ///
    /// The store's.
    fn attempts(
        &self,
        delivery: DeliveryId,
    ) -> impl Future<Output = Result<Vec<Attempt>, LedgerError>> + Send;

    /// Let settled deliveries run again, now and with all of their attempts, under the id they had: a
    /// receiver that completed the event will, rightly, do nothing; see [`Outbox::resend_as_new`]. How many there were; those whose
    /// payload is gone, and those of deleted endpoints, stay.
    ///
    /// # Errors
    ///
    /// The store's. What waits by then goes on waiting, and the call may be made again.
    fn resend(&self, what: Resend) -> impl Future<Output = Result<u64, LedgerError>> + Send;

    /// Enqueue the event of a settled delivery once more, under a new id and for that endpoint alone: for a
    /// receiver that is to do again what it completed. The new id, or nothing if the delivery is unknown
    /// or not settled, or its endpoint is deleted.
    ///
    /// Unlike [`Outbox::resend`], a second call is a second event.
    ///
    /// # Errors
    ///
    /// The store's.
    fn resend_as_new(
        &self,
        delivery: DeliveryId,
    ) -> impl Future<Output = Result<Option<EventId>, LedgerError>> + Send;

    /// Enqueue `event` for one endpoint of its tenant alone, whatever the endpoint's filter: for a test of
    /// it. An idempotency key and an order key count for nothing. `false` if there is no such endpoint, or
    /// if it is not enabled: nothing is stored then.
    ///
    /// # Errors
    ///
    /// The store's.
    fn send_to(
        &self,
        endpoint: EndpointId,
        event: Event,
    ) -> impl Future<Output = Result<bool, LedgerError>> + Send;

    /// Let at most `batch` deliveries be due now that wait longer than any pause, and breakers pass that
    /// are open for longer than any is: the store's clock was ahead when they began to wait, and was set
    /// back since. How many there were.
    ///
    /// Costs a look at each endpoint with a waiting delivery.
    ///
    /// # Errors
    ///
    /// The store's.
    fn recall(
        &self,
        longest_pause: Duration,
        longest_open: Duration,
        batch: u32,
    ) -> impl Future<Output = Result<u64, LedgerError>> + Send;

    /// Let running statements end and close every connection.
    fn close(&self) -> impl Future<Output = ()> + Send;
}
