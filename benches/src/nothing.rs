//! A ledger that stores nothing: every event is a duplicate.

use std::sync::Arc;
use std::time::Duration;

use webhook_actix::ledger::{
    Check, Committed, Completion, Failure, Found, Inline, Lease, Ledger, LedgerError, LedgerFault,
    LedgerTx, Notice, Pruned, QuarantineId, Quarantined, Registration, Release, Replay, Replayable,
    Retention, RolledBack, Search, Take, Taken, TxLimits,
};
use webhook_actix::{Claim, Clock, InboxId, NewEvent, Quarantine};

/// Measures what is not the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nothing;

/// There are no transactions either.
#[derive(Debug)]
pub(crate) enum Never {}

type Answer<T> = Result<T, LedgerError>;

impl Ledger for Nothing {
    type Conn = ();
    type Tx = Never;

    async fn prepare(&self, _registration: Registration) -> Answer<Vec<Notice>> {
        Ok(Vec::new())
    }

    async fn claim(&self, events: Vec<NewEvent>) -> Answer<Vec<Claim>> {
        let claims = events.iter().map(|_| Claim::Duplicate { reply: None });
        Ok(claims.collect())
    }

    async fn take(&self, _want: Take) -> Answer<Taken> {
        Ok(Taken::default())
    }

    async fn renew(&self, leases: Vec<Lease>, _length: Duration) -> Answer<Vec<Lease>> {
        Ok(leases)
    }

    async fn hand_back(&self, _leases: Vec<Lease>) -> Answer<()> {
        Ok(())
    }

    async fn prune(&self, _what: Retention) -> Answer<Pruned> {
        Ok(Pruned::default())
    }

    async fn check(&self, _clock: Arc<dyn Clock>) -> Vec<Check> {
        Vec::new()
    }

    async fn close(&self) {}

    async fn quarantine(&self, _event: NewEvent, _reason: Quarantine) -> Answer<()> {
        Err(uncalled())
    }

    async fn begin_inline(&self, _event: NewEvent, _limits: TxLimits) -> Answer<Inline<Never>> {
        Err(uncalled())
    }

    async fn begin(&self, _lease: Lease, _limits: TxLimits) -> Answer<Option<Never>> {
        Err(uncalled())
    }

    async fn complete(&self, _lease: Lease, _done: Completion) -> Answer<bool> {
        Err(uncalled())
    }

    async fn fail(&self, _lease: Lease, _failure: Failure) -> Answer<bool> {
        Err(uncalled())
    }

    async fn quarantined(
        &self,
        _endpoint: Option<Arc<str>>,
        _after: Option<QuarantineId>,
        _limit: u32,
    ) -> Answer<Vec<Quarantined>> {
        Err(uncalled())
    }

    async fn release(&self, _id: QuarantineId, _actor: String) -> Answer<Release> {
        Err(uncalled())
    }

    async fn discard(&self, _id: QuarantineId, _actor: String) -> Answer<bool> {
        Err(uncalled())
    }

    async fn find(&self, _what: Search) -> Answer<Vec<Found>> {
        Err(uncalled())
    }

    async fn replay(&self, _inbox: InboxId, _actor: String, _which: Replayable) -> Answer<Replay> {
        Err(uncalled())
    }

    async fn replay_ignored(
        &self,
        _endpoint: Arc<str>,
        _event_types: Arc<[String]>,
        _actor: String,
    ) -> Answer<u64> {
        Err(uncalled())
    }
}

impl LedgerTx for Never {
    type Conn = ();

    fn conn(&mut self) -> &mut () {
        match *self {}
    }

    async fn complete(self, _done: Completion) -> Answer<Committed> {
        match self {}
    }

    async fn rollback(self) -> RolledBack {
        match self {}
    }
}

fn uncalled() -> LedgerError {
    LedgerError::new(LedgerFault::Internal, "no benchmark comes here")
}
