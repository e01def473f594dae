//! A ledger on a stage: the one within does the work, and the stage says what happens on the way.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use webhook_core::ledger::{
    Check, Committed, Completion, Failure, Found, Inline, Lease, Ledger, LedgerError, LedgerTx,
    Notice, Pruned, QuarantineId, Quarantined, Registration, Release, Replay, Replayable,
    Retention, RolledBack, Search, Take, Taken, TxLimits,
};
use webhook_core::{Claim, Clock, InboxId, NewEvent, Quarantine};

use crate::stage::{Point, Stage};

/// A ledger whose way to the store leads over a [`Stage`].
#[derive(Debug, Clone)]
pub struct Staged<L> {
    within: L,
    stage: Stage,
}

/// A transaction of a [`Staged`] ledger.
#[derive(Debug)]
pub struct StagedTx<T> {
    within: T,
    stage: Stage,
}

impl<L: Ledger> Staged<L> {
    /// `within`, seen over `stage`.
    pub fn new(within: L, stage: Stage) -> Self {
        Self { within, stage }
    }

    /// The ledger that does the work.
    pub fn within(&self) -> &L {
        &self.within
    }

    fn tx(&self, within: L::Tx) -> StagedTx<L::Tx> {
        let stage = self.stage.clone();
        StagedTx { within, stage }
    }
}

impl<L: Ledger> Ledger for Staged<L> {
    type Conn = L::Conn;
    type Tx = StagedTx<L::Tx>;

    async fn prepare(&self, registration: Registration) -> Result<Vec<Notice>, LedgerError> {
        self.stage.alive()?;
        self.within.prepare(registration).await
    }

    async fn claim(&self, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        self.stage.reach(Point::BeforeClaim).await?;
        let claims = self.within.claim(events).await?;
        self.stage.reach(Point::AfterClaim).await?;
        Ok(claims)
    }

    async fn quarantine(&self, event: NewEvent, reason: Quarantine) -> Result<(), LedgerError> {
        self.stage.alive()?;
        self.within.quarantine(event, reason).await
    }

    async fn begin_inline(
        &self,
        event: NewEvent,
        limits: TxLimits,
    ) -> Result<Inline<Self::Tx>, LedgerError> {
        self.stage.reach(Point::BeforeClaim).await?;
        let begun = self.within.begin_inline(event, limits).await?;
        // What is dropped here unfinished is rolled back.
        self.stage.reach(Point::AfterClaim).await?;
        Ok(match begun {
            Inline::Granted(tx, leased) => Inline::Granted(self.tx(tx), leased),
            Inline::Settled(claim) => Inline::Settled(claim),
            _ => return Err(LedgerError::unfit("a test kit of the ledger's version")),
        })
    }

    async fn begin(&self, lease: Lease, limits: TxLimits) -> Result<Option<Self::Tx>, LedgerError> {
        self.stage.reach(Point::BeforeBegin).await?;
        let begun = self.within.begin(lease, limits).await?;
        self.stage.reach(Point::AfterBegin).await?;
        Ok(begun.map(|tx| self.tx(tx)))
    }

    async fn take(&self, want: Take) -> Result<Taken, LedgerError> {
        self.stage.alive()?;
        // Workers look twice a second: only who waits for them counts them.
        if self.stage.has_plans(Point::BeforeTake) {
            self.stage.reach(Point::BeforeTake).await?;
        }
        let taken = self.within.take(want).await?;
        if !taken.events.is_empty() {
            self.stage.reach(Point::AfterTake).await?;
        }
        Ok(taken)
    }

    async fn renew(&self, leases: Vec<Lease>, length: Duration) -> Result<Vec<Lease>, LedgerError> {
        self.stage.alive()?;
        self.within.renew(leases, length).await
    }

    async fn complete(&self, lease: Lease, done: Completion) -> Result<bool, LedgerError> {
        self.stage.reach(Point::BeforeComplete).await?;
        let is_held = self.within.complete(lease, done).await?;
        self.stage.reach(Point::AfterComplete).await?;
        Ok(is_held)
    }

    async fn fail(&self, lease: Lease, failure: Failure) -> Result<bool, LedgerError> {
        self.stage.reach(Point::BeforeFail).await?;
        let is_held = self.within.fail(lease, failure).await?;
        self.stage.reach(Point::AfterFail).await?;
        Ok(is_held)
    }

    async fn hand_back(&self, leases: Vec<Lease>) -> Result<(), LedgerError> {
        self.stage.alive()?;
        self.within.hand_back(leases).await
    }

    async fn prune(&self, what: Retention) -> Result<Pruned, LedgerError> {
        self.stage.alive()?;
        self.within.prune(what).await
    }

    // What follows is the operator's or the test's: it looks at the store, crash or no crash.

    async fn quarantined(
        &self,
        endpoint: Option<Arc<str>>,
        after: Option<QuarantineId>,
        limit: u32,
    ) -> Result<Vec<Quarantined>, LedgerError> {
        self.within.quarantined(endpoint, after, limit).await
    }

    async fn release(&self, id: QuarantineId, actor: String) -> Result<Release, LedgerError> {
        self.within.release(id, actor).await
    }

    async fn discard(&self, id: QuarantineId, actor: String) -> Result<bool, LedgerError> {
        self.within.discard(id, actor).await
    }

    async fn find(&self, what: Search) -> Result<Vec<Found>, LedgerError> {
        self.within.find(what).await
    }

    async fn replay(
        &self,
        inbox: InboxId,
        actor: String,
        which: Replayable,
    ) -> Result<Replay, LedgerError> {
        self.within.replay(inbox, actor, which).await
    }

    async fn replay_ignored(
        &self,
        endpoint: Arc<str>,
        event_types: Arc<[String]>,
        actor: String,
    ) -> Result<u64, LedgerError> {
        self.within
            .replay_ignored(endpoint, event_types, actor)
            .await
    }

    async fn check(&self, clock: Arc<dyn Clock>) -> Vec<Check> {
        self.within.check(clock).await
    }

    async fn arrival(&self) -> Arc<str> {
        self.within.arrival().await
    }

    fn max_transactions(&self) -> usize {
        self.within.max_transactions()
    }

    fn is_to_blame(&self, error: &(dyn Error + 'static)) -> bool {
        self.within.is_to_blame(error)
    }

    async fn close(&self) {
        self.within.close().await;
    }
}

impl<T: LedgerTx> LedgerTx for StagedTx<T> {
    type Conn = T::Conn;

    fn conn(&mut self) -> &mut Self::Conn {
        self.within.conn()
    }

    async fn complete(self, done: Completion) -> Result<Committed, LedgerError> {
        // A transaction that is dropped here is rolled back.
        self.stage.reach(Point::BeforeComplete).await?;
        let committed = self.within.complete(done).await?;
        self.stage.reach(Point::AfterComplete).await?;
        Ok(committed)
    }

    async fn rollback(self) -> RolledBack {
        self.within.rollback().await
    }
}
