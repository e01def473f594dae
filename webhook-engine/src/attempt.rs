//! One run of a handler: lent connection, caught panic, bounded transaction.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use webhook_core::ledger::{
    Committed, Completion, Lease, Leased, Ledger, LedgerError, LedgerTx as _, RolledBack, TxLimits,
};
use webhook_core::{
    BeginError, BoxFuture, Claimed, ContentDigest, HandlerError, Lend, Reply, canonical_digest,
    fault_point,
};

use crate::built::{Built, RunLimits};
use crate::erased::Erased;
use crate::shared::Shared;

/// Opens the attempt's transaction when the handler asks for it, and keeps it for the completion.
pub(crate) struct Lender<L: Ledger> {
    ledger: L,
    lease: Lease,
    limits: TxLimits,
    places: Arc<Semaphore>,
    open: Option<(L::Tx, OwnedSemaphorePermit)>,
    fault: Option<BeginFault>,
    begun: Option<oneshot::Sender<()>>,
}

/// Why the transaction did not open. Never the handler's fault.
#[derive(Debug)]
pub(crate) enum BeginFault {
    LeaseLost,
    Store(LedgerError),
}

/// How a run ended.
pub(crate) enum Ended {
    /// The transaction could not be opened.
    Begin(BeginFault),
    /// The handler failed.
    Failed(HandlerError),
    /// Whoever ran it told it to stop.
    Cancelled,
    /// It, or its transaction, took too long; which of them.
    Overran(&'static str),
    /// The handler panicked.
    Panicked,
    /// The handler succeeded; the transaction is open still.
    Replied(Reply),
}

/// How an attempt was settled.
pub(crate) enum Settled {
    /// Effect and completion are durable.
    Completed(Reply),
    /// The handler failed, and why.
    Failed(HandlerError),
    /// The attempt failed for a reason of this name, counted against the event.
    Broken(&'static str),
    /// The handler ended the transaction itself.
    Escaped,
    /// The event is somebody else's now.
    LeaseLost,
    /// The store was in the way or away: not counted. `None` if the handler was told first.
    Store(Option<LedgerError>),
    /// Told to stop before the end.
    Cancelled,
}

impl<L: Ledger> Lender<L> {
    /// For a leased event: no transaction yet.
    pub(crate) fn new(shared: &Shared<L>, lease: Lease, limits: TxLimits) -> Self {
        Self {
            ledger: shared.ledger.clone(),
            lease,
            limits,
            places: shared.worker_places.clone(),
            open: None,
            fault: None,
            begun: None,
        }
    }

    /// For an inline event: the claim's own transaction.
    pub(crate) fn opened(
        shared: &Shared<L>,
        lease: Lease,
        limits: TxLimits,
        tx: L::Tx,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            open: Some((tx, place)),
            ..Self::new(shared, lease, limits)
        }
    }

    /// Run `handler` once. `stop` resolves when it must not go on.
    pub(crate) async fn run(
        &mut self,
        handler: &Arc<dyn Erased<L::Conn>>,
        claimed: &Claimed,
        limits: RunLimits,
        stop: impl Future<Output = ()>,
    ) -> Ended {
        let (begun, has_begun) = oneshot::channel();
        if self.open.is_some() {
            // The clock of an inline transaction is the request's deadline, in `stop`.
            drop(begun);
        } else {
            self.begun = Some(begun);
        }
        let overrun = async {
            match has_begun.await {
                Ok(()) => tokio::time::sleep(limits.transaction).await,
                Err(_) => std::future::pending().await,
            }
        };
        let late = tokio::time::sleep(limits.whole);
        let call = AssertUnwindSafe(async { handler.call(claimed, self).await }).catch_unwind();
        // Dropping `call` half-way may leave a statement running: rolling back ends that first.
        let ended = tokio::select! {
            biased;
            () = stop => Ended::Cancelled,
            () = overrun => Ended::Overran("transaction_overran"),
            () = late => Ended::Overran("attempt_overran"),
            result = call => match result {
                Ok(Ok(reply)) => Ended::Replied(reply),
                Ok(Err(error)) => Ended::Failed(error),
                Err(_) => Ended::Panicked,
            },
        };
        match self.fault.take() {
            Some(fault) if !matches!(ended, Ended::Cancelled) => Ended::Begin(fault),
            _ => ended,
        }
    }

    /// Commit or undo what the run left. Nothing here is cancellable: the ledger goes on without us.
    pub(crate) async fn settle(
        mut self,
        ended: Ended,
        canonical: Option<ContentDigest>,
    ) -> Settled {
        fault_point!("handler.done", _ => return Settled::Store(None));
        match ended {
            Ended::Replied(reply) => self.complete(reply, canonical).await,
            // What the handler committed by itself may stand: it must not run again.
            _ if self.rollback().await == RolledBack::Escaped => Settled::Escaped,
            Ended::Failed(error) => {
                // Contention, or a store that went away, is not the handler's failure.
                let cause = error.error().map(|cause| cause as &dyn std::error::Error);
                if cause.is_some_and(|cause| self.ledger.is_to_blame(cause)) {
                    Settled::Store(None)
                } else {
                    Settled::Failed(error)
                }
            }
            Ended::Begin(BeginFault::LeaseLost) => Settled::LeaseLost,
            Ended::Begin(BeginFault::Store(fault)) => Settled::Store(Some(fault)),
            Ended::Cancelled => Settled::Cancelled,
            Ended::Overran(which) => Settled::Broken(which),
            Ended::Panicked => Settled::Broken("panic"),
        }
    }

    async fn complete(&mut self, reply: Reply, canonical: Option<ContentDigest>) -> Settled {
        let done = Completion::new(reply.clone(), canonical);
        let Some((tx, _place)) = self.open.take() else {
            return match self.ledger.complete(self.lease, done).await {
                Ok(true) => Settled::Completed(reply),
                Ok(false) => Settled::LeaseLost,
                Err(fault) => Settled::Store(Some(fault)),
            };
        };
        match tx.complete(done).await {
            Ok(Committed::Committed) => Settled::Completed(reply),
            Ok(Committed::LeaseLost) => Settled::LeaseLost,
            Ok(Committed::Escaped) => Settled::Escaped,
            Ok(_) => Settled::Broken("transaction_aborted"),
            Err(fault) => Settled::Store(Some(fault)),
        }
    }

    async fn rollback(&mut self) -> RolledBack {
        match self.open.take() {
            Some((tx, _place)) => tx.rollback().await,
            None => RolledBack::Undone,
        }
    }

    async fn open(&mut self) -> Result<(), BeginFault> {
        let place = self.places.clone().acquire_owned().await;
        let place = place.map_err(|_| BeginFault::LeaseLost)?;
        let tx = self
            .ledger
            .begin(self.lease, self.limits)
            .await
            .map_err(BeginFault::Store)?
            .ok_or(BeginFault::LeaseLost)?;
        self.open = Some((tx, place));
        if let Some(begun) = self.begun.take() {
            // Nobody listens only if the run is over.
            let _ = begun.send(());
        }
        Ok(())
    }
}

impl<L: Ledger> Lend<L::Conn> for Lender<L> {
    fn begin(&mut self) -> BoxFuture<'_, Result<&mut L::Conn, BeginError>> {
        Box::pin(async move {
            if self.open.is_none() && self.fault.is_none() {
                self.fault = self.open().await.err();
            }
            match &mut self.open {
                Some((tx, _)) => Ok(tx.conn()),
                None => Err(BeginError),
            }
        })
    }
}

/// Bind a leased event to its handler; also the canonical digest of its payload, for later comparisons.
pub(crate) fn bind<L: Ledger>(
    shared: &Shared<L>,
    built: &Built<L::Conn>,
    handler: &Arc<dyn Erased<L::Conn>>,
    leased: Leased,
) -> (Claimed, Option<ContentDigest>) {
    let volatile = built.provider.spec().volatile_paths();
    let canonical =
        canonical_digest(&leased.event.payload, volatile).map(ContentDigest::from_bytes);
    let claimed = Claimed::new(
        leased,
        built.provider.clone(),
        handler.spec(),
        shared.data.clone(),
    );
    (claimed, canonical)
}
