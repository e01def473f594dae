//! The outbox on both stores.

use std::time::Duration;

use bytes::Bytes;
use sqlx::Connection;
use webhook_core::outbox::{
    AttemptClass, AttemptRecord, Delivery, Endpoint, EndpointId, EnqueueError, Enqueued, Event,
    EventId, Filter, HealthPolicy, Next, Outbox, Put, Taken, Want,
};
use webhook_sqlx::{PostgresOutbox, SqliteOutbox};

use crate::store::{Postgres, Sql, Sqlite};

mod enqueue;
mod fan_out;
mod health;
mod leases;
mod only_postgres;
mod operators;

/// A store with an outbox beside its ledger.
pub(crate) trait WithOutbox: Sql {
    type Outbox: Outbox;

    /// SQL for an endpoint's id.
    const RANDOM_ID: &'static str;

    /// Open one more outbox, as one more process would.
    fn open_outbox(&self) -> impl Future<Output = Self::Outbox> + Send;
    /// Enqueue in a transaction of the application's that also has an effect.
    fn enqueue(
        &self,
        outbox: &Self::Outbox,
        event: Event,
        commits: bool,
    ) -> impl Future<Output = Result<Enqueued, EnqueueError>> + Send;
    /// Let everything in the outbox have happened `millis` earlier.
    fn shift_outbox(&self, millis: i64) -> impl Future<Output = ()> + Send;
}

impl WithOutbox for Postgres {
    type Outbox = PostgresOutbox;

    const RANDOM_ID: &'static str = "gen_random_uuid()";

    async fn open_outbox(&self) -> PostgresOutbox {
        let outbox = PostgresOutbox::connect(&self.url).await.unwrap();
        outbox.prepare().await.unwrap();
        outbox
    }

    async fn enqueue(
        &self,
        outbox: &PostgresOutbox,
        event: Event,
        commits: bool,
    ) -> Result<Enqueued, EnqueueError> {
        let mut conn = self.connect().await;
        let mut tx = conn.begin().await.unwrap();
        <Self as Sql>::run(&mut tx, EFFECT).await.unwrap();
        let enqueued = outbox.enqueue(&mut tx, event).await;
        if commits {
            tx.commit().await.unwrap();
        } else {
            tx.rollback().await.unwrap();
        }
        enqueued
    }

    async fn shift_outbox(&self, millis: i64) {
        self.execute(&shift(
            &format!("- {millis} * interval '1 millisecond'"),
            millis,
        ))
        .await;
    }
}

impl WithOutbox for Sqlite {
    type Outbox = SqliteOutbox;

    const RANDOM_ID: &'static str = "randomblob(16)";

    async fn open_outbox(&self) -> SqliteOutbox {
        let outbox = SqliteOutbox::open(&self.path()).await.unwrap();
        outbox.prepare().await.unwrap();
        outbox
    }

    async fn enqueue(
        &self,
        outbox: &SqliteOutbox,
        event: Event,
        commits: bool,
    ) -> Result<Enqueued, EnqueueError> {
        let mut conn = self.connect().await;
        let mut tx = conn.begin_with("begin immediate").await.unwrap();
        <Self as Sql>::run(&mut tx, EFFECT).await.unwrap();
        let enqueued = outbox.enqueue(&mut tx, event).await;
        if commits {
            tx.commit().await.unwrap();
        } else {
            tx.rollback().await.unwrap();
        }
        enqueued
    }

    async fn shift_outbox(&self, millis: i64) {
        self.execute(&shift(&format!("- {millis}"), millis)).await;
    }
}

/// An event of the tenant `acme`.
fn event(event_type: &str) -> Event {
    Event::new("acme", event_type, r#"{"n":1}"#).unwrap()
}

/// Register an endpoint of `acme` that takes everything.
async fn endpoint<O: Outbox>(outbox: &O) -> EndpointId {
    put(outbox, Filter::all(), |_| ()).await
}

async fn put<O: Outbox>(
    outbox: &O,
    filter: Filter,
    edit: impl FnOnce(&mut Endpoint),
) -> EndpointId {
    let mut new = Endpoint::new("acme", "https://example.com/in", filter, "standard").unwrap();
    edit(&mut new);
    let id = new.id;
    assert_eq!(outbox.put(new).await.unwrap(), Put::Stored(1));
    id
}

/// Change an endpoint that is stored.
async fn change<O: Outbox>(outbox: &O, id: EndpointId, edit: impl FnOnce(&mut Endpoint)) -> Put {
    let (mut stored, _) = outbox.endpoint(id).await.unwrap().unwrap();
    edit(&mut stored);
    outbox.put(stored).await.unwrap()
}

/// Enqueue events of these types and fan them out.
async fn send<S: WithOutbox>(store: &S, outbox: &S::Outbox, types: &[&str]) -> Vec<EventId> {
    let mut ids = Vec::new();
    for event_type in types {
        let enqueued = store.enqueue(outbox, event(event_type), true).await;
        ids.push(enqueued.unwrap().id().clone());
    }
    outbox.expand(1000).await.unwrap();
    ids
}

async fn take<O: Outbox>(outbox: &O, endpoint: EndpointId, max: u32) -> Vec<Delivery> {
    take_all(outbox, endpoint, max, 100).await.deliveries
}

async fn take_all<O: Outbox>(outbox: &O, endpoint: EndpointId, max: u32, room: u32) -> Taken {
    let want = Want::new(endpoint, max, room);
    outbox.take(vec![want], LEASE, u64::MAX).await.unwrap()
}

/// How an attempt of `delivery` ended.
fn ended(delivery: &Delivery, class: AttemptClass, next: Next) -> AttemptRecord {
    let mut record = AttemptRecord::new(delivery, class, next);
    record.status = Some(if class == AttemptClass::Delivered {
        204
    } else {
        500
    });
    record.address = Some("203.0.113.7".parse().unwrap());
    record.took = Duration::from_millis(12);
    record.answer = Bytes::from_static(b"so it was");
    record
}

/// Record it, and say whether the lease was held.
async fn record<O: Outbox>(outbox: &O, attempt: AttemptRecord) -> bool {
    let recorded = outbox.record(vec![attempt], HealthPolicy::default()).await;
    recorded.unwrap().held == [true]
}

const RETRY: Next = Next::Retry(Duration::from_mins(1));
const LEASE: Duration = Duration::from_secs(15);
const EFFECT: &str = "insert into effect values ('done')";

fn shift(back: &str, millis: i64) -> String {
    format!(
        "begin;
         update webhook.outbox_event set enqueued_at = enqueued_at {back}, expanded_at = expanded_at {back};
         update webhook.outbox_delivery set due_at = due_at {back}, waiting_since = waiting_since {back},
             settled_at = settled_at {back};
         update webhook.outbox_attempt set ended_at = ended_at {back};
         update webhook.outbox_endpoint set failing_since = failing_since - {millis},
             open_until = open_until - {millis};
         commit"
    )
}
