//! The outbox on PostgreSQL.

use std::time::Duration;

use sqlx::PgConnection;
use webhook_core::ledger::{Ledger as _, LedgerError};
use webhook_core::outbox::{
    Attempt, AttemptRecord, DeliveryId, DeliveryRow, Endpoint, EndpointId, EnqueueError, Enqueued,
    Event, EventId, Expanded, Health, HealthPolicy, Outbox, Pruned, Put, Ready, Recorded, Resend,
    Retention, Search, Share, Taken, Want,
};

use super::{MIGRATION_PATIENCE, PostgresLedger, check, migrate};
use crate::checks;
use crate::error::ledger_error;
use crate::listed::REPLAY_BATCH;
use crate::postgres::PoolSizes;

mod endpoint;
mod enqueue;
mod expand;
mod operator;
mod record;
mod retention;
mod take;

/// The outbox on PostgreSQL 14 or later: any number of processes enqueue, and any number dispatch.
///
/// Its tables are in the schema `webhook`, beside the application's own: what is enqueued on a
/// connection of the application commits with whatever else its transaction does.
#[derive(Debug, Clone)]
pub struct PostgresOutbox {
    ledger: PostgresLedger,
    /// Whether the connections are its own, and not those of the ledger it was made of.
    owns_pool: bool,
}

impl PostgresOutbox {
    /// Connect to the database that `url` names. Applications that also receive ask their ledger instead:
    /// [`PostgresLedger::outbox`].
    ///
    /// # Errors
    ///
    /// As [`PostgresLedger::connect`].
    pub async fn connect(url: &str) -> Result<Self, LedgerError> {
        Self::connect_with(url, PoolSizes::default()).await
    }

    /// Connect with a pool of `sizes.ledger` connections.
    ///
    /// # Errors
    ///
    /// As [`PostgresLedger::connect`].
    pub async fn connect_with(url: &str, sizes: PoolSizes) -> Result<Self, LedgerError> {
        let ledger = PostgresLedger::connect_with(url, sizes).await?;
        Ok(Self {
            ledger,
            owns_pool: true,
        })
    }

    pub(super) fn of(ledger: PostgresLedger) -> Self {
        Self {
            ledger,
            owns_pool: false,
        }
    }
}

impl Outbox for PostgresOutbox {
    type Conn = PgConnection;

    async fn prepare(&self) -> Result<(), LedgerError> {
        let ledger = self.ledger.clone();
        let preparing = async move {
            let mut conn = ledger.lend().await?;
            let settings = check::settings(&mut conn).await.map_err(ledger_error)?;
            checks::refuse(settings)?;
            migrate::outbox(&mut conn).await?;
            conn.give_back();
            Ok(())
        };
        self.ledger
            .executor()
            .run(MIGRATION_PATIENCE, preparing)
            .await
    }

    async fn enqueue(
        &self,
        conn: &mut PgConnection,
        event: Event,
    ) -> Result<Enqueued, EnqueueError> {
        enqueue::enqueue(conn, &event).await
    }

    async fn put(&self, endpoint: Endpoint) -> Result<Put, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
            let outcome = endpoint::put(&mut conn, &endpoint).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn endpoint(&self, id: EndpointId) -> Result<Option<(Endpoint, Health)>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
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
            let mut conn = ledger.lend().await?;
            let outcome = endpoint::page(&mut conn, tenant.as_deref(), after, limit).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn expand(&self, max_events: u32) -> Result<Expanded, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
            let outcome = expand::expand(&mut conn, max_events).await;
            conn.settle(outcome)
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
            let mut conn = ledger.lend().await?;
            let outcome = take::ready(&mut conn, after, limit).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn ready_of(&self, endpoints: Vec<EndpointId>) -> Result<Vec<Ready>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
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
            let mut conn = ledger.lend().await?;
            let outcome = take::take(&mut conn, &wants, lease, max_bytes).await;
            conn.settle(outcome)
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
            let mut conn = ledger.lend().await?;
            let outcome = record::record(&mut conn, &attempts, &policy).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn hand_back(&self, shares: Vec<Share>) -> Result<(), LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
            let outcome = take::hand_back(&mut conn, shares).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn rescue(&self, max_attempts: u32, batch: u32) -> Result<u64, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
            let outcome = record::rescue(&mut conn, max_attempts, batch).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn prune(&self, what: Retention) -> Result<Pruned, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
            let outcome = retention::prune(&mut conn, &what).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn find(&self, what: Search) -> Result<Vec<DeliveryRow>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
            let outcome = operator::find(&mut conn, &what).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn attempts(&self, delivery: DeliveryId) -> Result<Vec<Attempt>, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
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
                let mut conn = ledger.lend().await?;
                let outcome = operator::resend(&mut conn, &what, after, REPLAY_BATCH).await;
                conn.settle(outcome)
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
            let mut conn = ledger.lend().await?;
            let outcome = operator::resend_as_new(&mut conn, delivery).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn send_to(&self, endpoint: EndpointId, event: Event) -> Result<bool, LedgerError> {
        let ledger = self.ledger.clone();
        let work = async move {
            let mut conn = ledger.lend().await?;
            let outcome = enqueue::send_to(&mut conn, endpoint, &event).await;
            conn.settle(outcome)
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
            let mut conn = ledger.lend().await?;
            let outcome = take::recall(&mut conn, longest_pause, longest_open, batch).await;
            conn.settle(outcome)
        };
        self.ledger.run(work).await
    }

    async fn close(&self) {
        if self.owns_pool {
            self.ledger.close().await;
        }
    }
}
