//! A ledger that breaks a rule: the true one, with some of its methods replaced.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use sqlx::SqliteConnection;
use webhook_core::ledger::{
    Check, Committed, Completion, Failure, Found, Inline, Lease, Ledger, LedgerError, LedgerTx,
    Notice, Pruned, QuarantineId, Quarantined, Registration, Release, Replay, Replayable,
    Retention, RolledBack, Search, Take, Taken, TxLimits,
};
use webhook_core::{Claim, Clock, InboxId, NewEvent, Quarantine};
use webhook_sqlx::{SqliteLedger, SqliteTx};

type Outcome<T> = Result<T, LedgerError>;

/// One broken rule: what it replaces; all else is the true ledger's.
pub(crate) trait Mutant: fmt::Debug + Sized + 'static {
    fn prepare(
        on: &Broken<Self>,
        registration: Registration,
    ) -> impl Future<Output = Outcome<Vec<Notice>>> + Send {
        on.ledger.prepare(registration)
    }

    fn claim(
        on: &Broken<Self>,
        events: Vec<NewEvent>,
    ) -> impl Future<Output = Outcome<Vec<Claim>>> + Send {
        on.ledger.claim(events)
    }

    /// Before any use of a lease: the lease that is used instead.
    fn lease(_: &Broken<Self>, lease: Lease) -> impl Future<Output = Lease> + Send {
        async move { lease }
    }

    fn take(on: &Broken<Self>, want: Take) -> impl Future<Output = Outcome<Taken>> + Send {
        on.ledger.take(want)
    }

    fn renew(
        on: &Broken<Self>,
        leases: Vec<Lease>,
        length: Duration,
    ) -> impl Future<Output = Outcome<Vec<Lease>>> + Send {
        on.ledger.renew(leases, length)
    }

    fn fail(
        on: &Broken<Self>,
        lease: Lease,
        failure: Failure,
    ) -> impl Future<Output = Outcome<bool>> + Send {
        on.ledger.fail(lease, failure)
    }

    fn hand_back(
        on: &Broken<Self>,
        leases: Vec<Lease>,
    ) -> impl Future<Output = Outcome<()>> + Send {
        on.ledger.hand_back(leases)
    }

    fn prune(on: &Broken<Self>, what: Retention) -> impl Future<Output = Outcome<Pruned>> + Send {
        on.ledger.prune(what)
    }

    fn release(
        on: &Broken<Self>,
        id: QuarantineId,
    ) -> impl Future<Output = Outcome<Release>> + Send {
        on.ledger.release(id, "anna".to_owned())
    }

    fn discard(on: &Broken<Self>, id: QuarantineId) -> impl Future<Output = Outcome<bool>> + Send {
        on.ledger.discard(id, "anna".to_owned())
    }

    fn find(on: &Broken<Self>, what: Search) -> impl Future<Output = Outcome<Vec<Found>>> + Send {
        on.ledger.find(what)
    }

    fn replay(
        on: &Broken<Self>,
        inbox: InboxId,
        which: Replayable,
    ) -> impl Future<Output = Outcome<Replay>> + Send {
        on.ledger.replay(inbox, "anna".to_owned(), which)
    }

    fn check(on: &Broken<Self>, clock: Arc<dyn Clock>) -> impl Future<Output = Vec<Check>> + Send {
        on.ledger.check(clock)
    }

    fn commit(
        _: &Broken<Self>,
        _: Option<Lease>,
        tx: SqliteTx,
        done: Completion,
    ) -> impl Future<Output = Outcome<Committed>> + Send {
        tx.complete(done)
    }

    fn roll_back(_: &Broken<Self>, tx: SqliteTx) -> impl Future<Output = RolledBack> + Send {
        tx.rollback()
    }
}

/// The true ledger, to be broken by `M`.
pub(crate) struct Broken<M> {
    pub(crate) ledger: SqliteLedger,
    pub(crate) path: Arc<str>,
    mutant: PhantomData<fn() -> M>,
}

pub(crate) struct BrokenTx<M> {
    on: Broken<M>,
    lease: Option<Lease>,
    tx: SqliteTx,
}

impl<M> Broken<M> {
    pub(crate) fn new(ledger: SqliteLedger, path: Arc<str>) -> Self {
        let mutant = PhantomData;
        Self {
            ledger,
            path,
            mutant,
        }
    }

    fn tx(&self, lease: Option<Lease>, tx: SqliteTx) -> BrokenTx<M> {
        let on = self.clone();
        BrokenTx { on, lease, tx }
    }
}

impl<M> Clone for Broken<M> {
    fn clone(&self) -> Self {
        Self::new(self.ledger.clone(), self.path.clone())
    }
}

impl<M> fmt::Debug for Broken<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Broken")
    }
}

impl<M: Mutant> Broken<M> {
    async fn leases(&self, leases: Vec<Lease>) -> Vec<Lease> {
        let mut used = Vec::new();
        for lease in leases {
            used.push(M::lease(self, lease).await);
        }
        used
    }
}

impl<M: Mutant> Ledger for Broken<M> {
    type Conn = SqliteConnection;
    type Tx = BrokenTx<M>;

    async fn prepare(&self, registration: Registration) -> Outcome<Vec<Notice>> {
        M::prepare(self, registration).await
    }

    async fn claim(&self, events: Vec<NewEvent>) -> Outcome<Vec<Claim>> {
        M::claim(self, events).await
    }

    async fn quarantine(&self, event: NewEvent, reason: Quarantine) -> Outcome<()> {
        self.ledger.quarantine(event, reason).await
    }

    async fn begin_inline(&self, event: NewEvent, limits: TxLimits) -> Outcome<Inline<Self::Tx>> {
        let inline = self.ledger.begin_inline(event, limits).await?;
        Ok(match inline {
            Inline::Granted(tx, leased) => Inline::Granted(self.tx(None, tx), leased),
            Inline::Settled(claim) => Inline::Settled(claim),
            _ => panic!(),
        })
    }

    async fn begin(&self, lease: Lease, limits: TxLimits) -> Outcome<Option<Self::Tx>> {
        let lease = M::lease(self, lease).await;
        let tx = self.ledger.begin(lease, limits).await?;
        Ok(tx.map(|tx| self.tx(Some(lease), tx)))
    }

    async fn take(&self, want: Take) -> Outcome<Taken> {
        M::take(self, want).await
    }

    async fn renew(&self, leases: Vec<Lease>, length: Duration) -> Outcome<Vec<Lease>> {
        let leases = self.leases(leases).await;
        M::renew(self, leases, length).await
    }

    async fn complete(&self, lease: Lease, done: Completion) -> Outcome<bool> {
        let lease = M::lease(self, lease).await;
        self.ledger.complete(lease, done).await
    }

    async fn fail(&self, lease: Lease, failure: Failure) -> Outcome<bool> {
        let lease = M::lease(self, lease).await;
        M::fail(self, lease, failure).await
    }

    async fn hand_back(&self, leases: Vec<Lease>) -> Outcome<()> {
        let leases = self.leases(leases).await;
        M::hand_back(self, leases).await
    }

    async fn prune(&self, what: Retention) -> Outcome<Pruned> {
        M::prune(self, what).await
    }

    async fn quarantined(
        &self,
        endpoint: Option<Arc<str>>,
        after: Option<QuarantineId>,
        limit: u32,
    ) -> Outcome<Vec<Quarantined>> {
        self.ledger.quarantined(endpoint, after, limit).await
    }

    async fn release(&self, id: QuarantineId, _: String) -> Outcome<Release> {
        M::release(self, id).await
    }

    async fn discard(&self, id: QuarantineId, _: String) -> Outcome<bool> {
        M::discard(self, id).await
    }

    async fn find(&self, what: Search) -> Outcome<Vec<Found>> {
        M::find(self, what).await
    }

    async fn replay(&self, inbox: InboxId, _: String, which: Replayable) -> Outcome<Replay> {
        M::replay(self, inbox, which).await
    }

    async fn replay_ignored(
        &self,
        endpoint: Arc<str>,
        event_types: Arc<[String]>,
        actor: String,
    ) -> Outcome<u64> {
        let ledger = &self.ledger;
        ledger.replay_ignored(endpoint, event_types, actor).await
    }

    async fn check(&self, clock: Arc<dyn Clock>) -> Vec<Check> {
        M::check(self, clock).await
    }

    fn is_to_blame(&self, error: &(dyn Error + 'static)) -> bool {
        self.ledger.is_to_blame(error)
    }

    async fn close(&self) {
        self.ledger.close().await;
    }
}

impl<M: Mutant> LedgerTx for BrokenTx<M> {
    type Conn = SqliteConnection;

    fn conn(&mut self) -> &mut SqliteConnection {
        self.tx.conn()
    }

    async fn complete(self, done: Completion) -> Outcome<Committed> {
        M::commit(&self.on, self.lease, self.tx, done).await
    }

    async fn rollback(self) -> RolledBack {
        M::roll_back(&self.on, self.tx).await
    }
}
