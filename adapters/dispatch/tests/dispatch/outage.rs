//! A store that goes away while attempts are under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use webhook_core::ledger::{LedgerError, LedgerFault};
use webhook_core::outbox::{
    Attempt, AttemptClass, AttemptRecord, DeliveryId, DeliveryRow, DeliveryState, Endpoint,
    EndpointId, EnqueueError, Enqueued, Event, EventId, Expanded, Health, HealthPolicy, Outbox,
    Pruned, Put, Ready, Recorded, Resend, Retention, Search, Share, Taken, Want,
};
use webhook_dispatch::Dispatcher;
use webhook_sqlx::SqliteOutbox;

use crate::sender::{Sender, client, vault};
use crate::sink::{Reply, Sink};

/// An outbox that fails every call of a dispatcher's while it is away.
#[derive(Debug, Clone)]
struct Away {
    inner: SqliteOutbox,
    is_away: Arc<AtomicBool>,
}

#[tokio::test]
async fn shutdown_ends_while_the_store_is_away_and_the_attempt_is_made_again() {
    let is_away = Arc::new(AtomicBool::new(false));
    let sink = {
        let is_away = is_away.clone();
        Sink::start(move |_, before| {
            is_away.store(before == 0, Ordering::SeqCst);
            Reply::status(200)
        })
        .await
    };
    let sender = Sender::start().await;
    sender.endpoint(sink.url("/")).await;
    sender.dispatcher.shutdown().await;
    let outbox = Away {
        inner: sender.outbox.clone(),
        is_away: is_away.clone(),
    };
    let start = async || {
        let dispatcher = Dispatcher::builder(outbox.clone(), vault(), client())
            .poll_every(Duration::from_millis(20))
            .build()
            .unwrap();
        dispatcher.start().await.unwrap();
        dispatcher
    };
    let dispatcher = start().await;
    let id = sender.send("a", "{}").await;
    sink.wait(1).await;
    let from = Instant::now();
    dispatcher.shutdown().await;
    // A lease, three deadlines of a second and a half, and what a call takes.
    let took = from.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");

    is_away.store(false, Ordering::SeqCst);
    let dispatcher = start().await;
    let delivered = sender.wait(DeliveryState::Delivered, 1).await;
    dispatcher.shutdown().await;
    let attempts = sender.attempts(&delivered[0]).await;
    let classes: Vec<_> = attempts.iter().map(|attempt| attempt.class).collect();
    assert_eq!(classes, [AttemptClass::Unknown, AttemptClass::Delivered]);
    let got = sink.got();
    assert_eq!(got.len(), 2);
    assert!(
        got.iter()
            .all(|request| request.headers["webhook-id"] == id.as_str())
    );
}

impl Away {
    fn look(&self) -> Result<&SqliteOutbox, LedgerError> {
        if self.is_away.load(Ordering::SeqCst) {
            let cause = std::io::Error::other("away");
            return Err(LedgerError::new(LedgerFault::Unavailable, cause));
        }
        Ok(&self.inner)
    }
}

impl Outbox for Away {
    type Conn = <SqliteOutbox as Outbox>::Conn;

    async fn prepare(&self) -> Result<(), LedgerError> {
        self.look()?.prepare().await
    }

    async fn enqueue(&self, conn: &mut Self::Conn, event: Event) -> Result<Enqueued, EnqueueError> {
        self.inner.enqueue(conn, event).await
    }

    async fn put(&self, endpoint: Endpoint) -> Result<Put, LedgerError> {
        self.look()?.put(endpoint).await
    }

    async fn endpoint(&self, id: EndpointId) -> Result<Option<(Endpoint, Health)>, LedgerError> {
        self.look()?.endpoint(id).await
    }

    async fn endpoints(
        &self,
        tenant: Option<&str>,
        after: Option<EndpointId>,
        limit: u32,
    ) -> Result<Vec<(Endpoint, Health)>, LedgerError> {
        self.look()?.endpoints(tenant, after, limit).await
    }

    async fn expand(&self, max_events: u32) -> Result<Expanded, LedgerError> {
        self.look()?.expand(max_events).await
    }

    async fn ready(
        &self,
        after: Option<EndpointId>,
        limit: u32,
    ) -> Result<Vec<Ready>, LedgerError> {
        self.look()?.ready(after, limit).await
    }

    async fn ready_of(&self, endpoints: Vec<EndpointId>) -> Result<Vec<Ready>, LedgerError> {
        self.look()?.ready_of(endpoints).await
    }

    async fn take(
        &self,
        wants: Vec<Want>,
        lease: Duration,
        max_bytes: u64,
    ) -> Result<Taken, LedgerError> {
        self.look()?.take(wants, lease, max_bytes).await
    }

    async fn record(
        &self,
        attempts: Vec<AttemptRecord>,
        policy: HealthPolicy,
    ) -> Result<Recorded, LedgerError> {
        self.look()?.record(attempts, policy).await
    }

    async fn hand_back(&self, shares: Vec<Share>) -> Result<(), LedgerError> {
        self.look()?.hand_back(shares).await
    }

    async fn rescue(&self, max_attempts: u32, batch: u32) -> Result<u64, LedgerError> {
        self.look()?.rescue(max_attempts, batch).await
    }

    async fn prune(&self, what: Retention) -> Result<Pruned, LedgerError> {
        self.look()?.prune(what).await
    }

    async fn find(&self, what: Search) -> Result<Vec<DeliveryRow>, LedgerError> {
        self.look()?.find(what).await
    }

    async fn attempts(&self, delivery: DeliveryId) -> Result<Vec<Attempt>, LedgerError> {
        self.look()?.attempts(delivery).await
    }

    async fn resend(&self, what: Resend) -> Result<u64, LedgerError> {
        self.look()?.resend(what).await
    }

    async fn resend_as_new(&self, delivery: DeliveryId) -> Result<Option<EventId>, LedgerError> {
        self.look()?.resend_as_new(delivery).await
    }

    async fn send_to(&self, endpoint: EndpointId, event: Event) -> Result<bool, LedgerError> {
        self.look()?.send_to(endpoint, event).await
    }

    async fn recall(
        &self,
        longest_pause: Duration,
        longest_open: Duration,
        batch: u32,
    ) -> Result<u64, LedgerError> {
        let inner = self.look()?;
        inner.recall(longest_pause, longest_open, batch).await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
