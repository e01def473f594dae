//! The outbox on SQLite.

use std::time::Duration;

use sqlx::SqliteConnection;
use webhook_core::ledger::{Ledger as _, LedgerError};
use webhook_core::outbox::{
    Attempt, AttemptRecord, DeliveryId, DeliveryRow, Endpoint, EndpointId, EnqueueError, Enqueued,
    Event, EventId, Expanded, Health, HealthPolicy, Outbox, Pruned, Put, Ready, Recorded, Resend,
    Retention, Search, Share, Taken, Want,
};

use super::{SqliteLedger, migrate};
use crate::listed::REPLAY_BATCH;

mod endpoint;
mod enqueue;
mod expand;
mod operator;
mod record;
mod retention;
mod take;

/// The outbox on SQLite 3.42 or later, in a file beside the application's own tables.
///
/// What is enqueued on a connection of the application commits with whatever else its transaction does.
/// All writers of the file wait for each other: keep such transactions short.
#[derive(Debug, Clone)]
pub struct SqliteOutbox {
    ledger: SqliteLedger,
    /// Whether the connections are its own, and not those of the ledger it was made of.
    owns_pool: bool,
}

impl SqliteOutbox {
    /// Open the file at `path`, or the one that a URL names. Applications that also receive ask their
    /// ledger instead: [`SqliteLedger::outbox`].
    ///
    /// # Errors
    ///
    /// As [`SqliteLedger::open`].
    pub async fn open(path: &str) -> Result<Self, LedgerError> {
        Ok(Self {
            ledger: SqliteLedger::open(path).await?,
            owns_pool: true,
        })
    }

    pub(super) fn of(ledger: SqliteLedger) -> Self {
        Self {
            ledger,
            owns_pool: false,
        }
    }
}

impl Outbox for SqliteOutbox {
    type Conn = SqliteConnection;

    async fn prepare(&self) -> Result<(), LedgerError> {
        let ledger = self.ledger.clone();
        self.ledger
            .run(async move { migrate::outbox(&ledger).await })
            .await
    }

    async fn enqueue(
        &self,
        conn: &mut SqliteConnection,
        event: Event,
    ) -> Result<Enqueued, EnqueueError> {
        enqueue::enqueue(conn, &event).await
    }

    async fn put(&self, endpoint: Endpoint) -> Result<Put, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.write().await?;
            let outcome = endpoint::put(&mut conn, &endpoint).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn endpoint(&self, id: EndpointId) -> Result<Option<(Endpoint, Health)>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.read().await?;
            let outcome = endpoint::one(&mut conn, id).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn endpoints(
        &self,
        tenant: Option<&str>,
        after: Option<EndpointId>,
        limit: u32,
    ) -> Result<Vec<(Endpoint, Health)>, LedgerError> {
        let (ledger, tenant) = (self.ledger.clone(), tenant.map(str::to_owned));
        let work = async move {
            let mut conn = ledger.read().await?;
            let outcome = endpoint::page(&mut conn, tenant.as_deref(), after, limit).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn expand(&self, max_events: u32) -> Result<Expanded, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.read().await?;
            let outcome = expand::is_due(&mut conn).await;
            if !conn.settle(outcome)? {
                return Ok(Expanded::default());
            }
            let mut conn = ledger.write().await?;
            let outcome = expand::expand(&mut conn, max_events).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn ready(
        &self,
        after: Option<EndpointId>,
        limit: u32,
    ) -> Result<Vec<Ready>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.read().await?;
            let outcome = take::ready(&mut conn, after, limit).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn ready_of(&self, endpoints: Vec<EndpointId>) -> Result<Vec<Ready>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.read().await?;
            let outcome = take::ready_of(&mut conn, &endpoints).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn take(
        &self,
        wants: Vec<Want>,
        lease: Duration,
        max_bytes: u64,
    ) -> Result<Taken, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.write().await?;
            let outcome = take::take(&mut conn, &wants, lease, max_bytes).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn record(
        &self,
        attempts: Vec<AttemptRecord>,
        policy: HealthPolicy,
    ) -> Result<Recorded, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.write().await?;
            let outcome = record::record(&mut conn, &attempts, &policy).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn hand_back(&self, shares: Vec<Share>) -> Result<(), LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.write().await?;
            let outcome = take::hand_back(&mut conn, &shares).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn rescue(&self, max_attempts: u32, batch: u32) -> Result<u64, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.read().await?;
            let outcome = record::is_lost(&mut conn).await;
            if !conn.settle(outcome)? {
                return Ok(0);
            }
            let mut conn = ledger.write().await?;
            let outcome = record::rescue(&mut conn, max_attempts, batch).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn prune(&self, what: Retention) -> Result<Pruned, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.write().await?;
            let outcome = retention::prune(&mut conn, &what).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn find(&self, what: Search) -> Result<Vec<DeliveryRow>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.read().await?;
            let outcome = operator::find(&mut conn, &what).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn attempts(&self, delivery: DeliveryId) -> Result<Vec<Attempt>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.read().await?;
            let outcome = operator::attempts(&mut conn, delivery).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn resend(&self, what: Resend) -> Result<u64, LedgerError> {
        let (mut resent, mut after) = (0u64, DeliveryId::new(0));
        loop {
            let (ledger, what) = (self.ledger.clone(), what.clone());
            let work = async move {
                let mut conn = ledger.write().await?;
                let outcome = operator::resend(&mut conn, &what, after, REPLAY_BATCH).await;
                ledger.commit(conn, outcome).await
            };
            let batch = self.ledger.run(work).await?;
            let count = batch.len() as u64;
            resent = resent.saturating_add(count);
            if count < REPLAY_BATCH {
                return Ok(resent);
            }
            after = batch.into_iter().max().unwrap_or(after);
        }
    }

    async fn resend_as_new(&self, delivery: DeliveryId) -> Result<Option<EventId>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.write().await?;
            let outcome = operator::resend_as_new(&mut conn, delivery).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn send_to(&self, endpoint: EndpointId, event: Event) -> Result<bool, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.write().await?;
            let outcome = enqueue::send_to(&mut conn, endpoint, &event).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn recall(
        &self,
        longest_pause: Duration,
        longest_open: Duration,
        batch: u32,
    ) -> Result<u64, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.write().await?;
            let outcome = take::recall(&mut conn, longest_pause, longest_open, batch).await;
            ledger.commit(conn, outcome).await
        };
        self.ledger.run(work).await
    }

    async fn close(&self) {
        if self.owns_pool {
            self.ledger.close().await;
        }
    }
}
