//! What an operator can ask of the engine: health, quarantine, dead letters.

use std::sync::Arc;

use webhook_core::ledger::{
    Check, CheckVerdict, Found, Ledger, LedgerError, QuarantineId, Quarantined, Release, Replay,
    Replayable, Search,
};
use webhook_core::{Clock, InboxId};

/// Operators' calls on a ledger. Everything that is decided here records who decided it.
#[derive(Debug)]
pub struct Operator<'w, L> {
    ledger: &'w L,
    actor: String,
}

/// What [`crate::Webhooks::doctor`] found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// Everything that was looked at.
    pub checks: Vec<Check>,
}

impl<'w, L: Ledger> Operator<'w, L> {
    pub(crate) fn new(ledger: &'w L, actor: String) -> Self {
        Self { ledger, actor }
    }

    /// Deliveries in quarantine, oldest first, after `after` for paging.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn quarantined(
        &self,
        endpoint: Option<&str>,
        after: Option<QuarantineId>,
        limit: u32,
    ) -> Result<Vec<Quarantined>, LedgerError> {
        self.ledger
            .quarantined(endpoint.map(Arc::from), after, limit)
            .await
    }

    /// Let a quarantined delivery run as an event of its own, once.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn release(&self, id: QuarantineId) -> Result<Release, LedgerError> {
        self.ledger.release(id, self.actor.clone()).await
    }

    /// Decide that a quarantined delivery never runs. `false` if that was decided before.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn discard(&self, id: QuarantineId) -> Result<bool, LedgerError> {
        self.ledger.discard(id, self.actor.clone()).await
    }

    /// Look for stored events.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn find(&self, what: Search) -> Result<Vec<Found>, LedgerError> {
        self.ledger.find(what).await
    }

    /// Let a dead or ignored event run again, with all of its attempts.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn replay(&self, event: InboxId) -> Result<Replay, LedgerError> {
        self.ledger
            .replay(event, self.actor.clone(), Replayable::Unfinished)
            .await
    }

    /// Let an event run again even if it is completed: its effect then happens twice.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn replay_even_completed(&self, event: InboxId) -> Result<Replay, LedgerError> {
        self.ledger
            .replay(event, self.actor.clone(), Replayable::EvenCompleted)
            .await
    }

    /// Let the ignored events of these types run, now that handlers take them. How many.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn replay_ignored(
        &self,
        endpoint: &str,
        event_types: &[&str],
    ) -> Result<u64, LedgerError> {
        let types = event_types
            .iter()
            .map(|&event_type| event_type.to_owned())
            .collect();
        self.ledger
            .replay_ignored(endpoint.into(), types, self.actor.clone())
            .await
    }
}

impl Report {
    pub(crate) async fn of<L: Ledger>(ledger: &L, clock: Arc<dyn Clock>) -> Self {
        Self {
            checks: ledger.check(clock).await,
        }
    }

    /// The worst of it.
    pub fn verdict(&self) -> CheckVerdict {
        let verdicts = self.checks.iter().map(|check| check.verdict);
        verdicts.max().unwrap_or(CheckVerdict::Good)
    }

    /// Whether the process should be sent deliveries.
    pub fn is_ready(&self) -> bool {
        self.verdict() != CheckVerdict::Bad
    }
}
