//! Workers of one endpoint: run a leased event, and record what became of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use webhook_core::ledger::{Completion, Failure, Lease, Leased, Ledger, Next, TRANSACTION_ESCAPED};
use webhook_core::{Disposition, Reply, fault_point};

use crate::attempt::{Ended, Lender, Settled, bind};
use crate::built::Built;
use crate::erased::Erased;
use crate::held::Hold;
use crate::pace::Pace;
use crate::shared::{Served, Shared};
use crate::telemetry;

/// Attempts ended by contention that are repeated at once, and after which the event is dead.
const FEW_CONTENTIONS: u32 = 10;
const MANY_CONTENTIONS: u32 = 100;

/// What was tried before.
#[derive(Debug, Clone, Copy)]
struct Tries {
    failures: u32,
    contended: u32,
}

/// Run one leased event and record what became of it. Its place is free as soon as its handler has
/// ended: what is recorded after it shares statements.
pub(crate) async fn run<L: Ledger>(
    shared: &Shared<L>,
    served: &Served<L::Conn>,
    leased: Leased,
    hold: &Hold,
    pace: &Pace,
    permit: OwnedSemaphorePermit,
) {
    fault_point!("take.done", _ => return);
    let built = &served.built;
    let (lease, tries) = (leased.lease, Tries::of(&leased));
    let Some(handler) = built.handler(leased.event.event_type.as_str()) else {
        // `take` asked only for types that have one.
        return hand_back(shared, built, lease).await;
    };
    if hold.is_over() {
        // It waited for its place for too long: somebody else may run it.
        tracing::warn!(endpoint = %built.name, handler = handler.spec().name, "lease lost");
        let label = Settled::LeaseLost.label();
        return built
            .meters
            .attempt(handler.spec().name, label, Duration::ZERO);
    }
    let (began, bytes) = (Instant::now(), leased.event.payload.len());
    let (claimed, canonical) = bind(shared, built, handler, leased);
    let mut lender = Lender::new(shared, lease, built.worker_limits());
    let stop = async {
        tokio::select! {
            () = hold.lost.cancelled() => {}
            () = shared.life.handling.cancelled() => {}
        }
    };
    let ended = lender
        .run(handler, &claimed, built.run_limits(), stop)
        .await;
    // A run that was cut off says nothing of how long one takes.
    if !matches!(ended, Ended::Cancelled) {
        pace.ran(began.elapsed(), bytes);
    }
    drop(permit);
    let settled = lender.settle(ended, canonical).await;
    let took = began.elapsed();
    built
        .meters
        .attempt(handler.spec().name, settled.label(), took);
    if let Settled::Failed(error) = &settled
        && error.disposition() == Disposition::Ignore
    {
        let done = Completion::new(Reply::default(), canonical);
        return complete(shared, built, lease, done).await;
    }
    record(
        shared,
        built,
        handler,
        lease,
        tries,
        settled,
        hold.lost.is_cancelled(),
    )
    .await;
}

async fn record<L: Ledger>(
    shared: &Shared<L>,
    built: &Built<L::Conn>,
    handler: &Arc<dyn Erased<L::Conn>>,
    lease: Lease,
    tries: Tries,
    settled: Settled,
    lost: bool,
) {
    let name = handler.spec().name;
    let failures = tries.failures.saturating_add(1);
    let pause = built.backoff.pause(failures);
    let dead = Next::Dead { quiet: pause };
    let counted = |error: String, next: Next| {
        let next = if failures >= built.max_failures {
            dead
        } else {
            next
        };
        Failure::new(error, next)
    };
    let failure = match settled {
        Settled::Completed(_) => return,
        Settled::Cancelled if !lost => return hand_back(shared, built, lease).await,
        Settled::Cancelled | Settled::LeaseLost => {
            tracing::warn!(endpoint = %built.name, handler = name, "lease lost");
            return;
        }
        Settled::Failed(error) => match error.disposition() {
            Disposition::DeadLetter => Failure::new(error.to_string(), dead),
            Disposition::RetryAfter(delay) => {
                let delay = delay.min(built.backoff.longest).max(pause);
                counted(error.to_string(), Next::Retry(delay))
            }
            _ => counted(error.to_string(), Next::Retry(pause)),
        },
        Settled::Broken(why) => counted(why.to_owned(), Next::Retry(pause)),
        // Its effect may stand: running it again could double it.
        Settled::Escaped => Failure::new(TRANSACTION_ESCAPED, dead),
        Settled::Store(fault) => {
            let error = fault.map_or_else(
                || "the handler met contention".to_owned(),
                |fault| fault.to_string(),
            );
            // Soon at first, on the endpoint's schedule if it goes on, and not for ever.
            let next = match tries.contended {
                0..FEW_CONTENTIONS => {
                    Next::Retry(Duration::from_millis(rand::random_range(50..500)))
                }
                FEW_CONTENTIONS..MANY_CONTENTIONS => {
                    let met = tries.contended.saturating_sub(FEW_CONTENTIONS);
                    Next::Retry(built.backoff.pause(met))
                }
                _ => dead,
            };
            Failure::new(error, next).uncounted()
        }
    };
    tracing::warn!(
        endpoint = %built.name, handler = name, counted = failure.counted, error = %failure.error,
        dead = matches!(failure.next, Next::Dead { .. }), "attempt failed"
    );
    if matches!(failure.next, Next::Dead { .. }) {
        telemetry::dead(&built.name, 1);
    }
    if shared.ledger.fail(lease, failure).await.is_err() {
        // The lease runs out and the event is taken again.
        telemetry::ledger_fault(&built.name, "fail");
    }
}

async fn complete<L: Ledger>(
    shared: &Shared<L>,
    built: &Built<L::Conn>,
    lease: Lease,
    done: Completion,
) {
    if shared.ledger.complete(lease, done).await.is_err() {
        telemetry::ledger_fault(&built.name, "complete");
    }
}

async fn hand_back<L: Ledger>(shared: &Shared<L>, built: &Built<L::Conn>, lease: Lease) {
    if shared.ledger.hand_back(vec![lease]).await.is_err() {
        telemetry::ledger_fault(&built.name, "hand_back");
    }
}

impl Tries {
    fn of(leased: &Leased) -> Self {
        Self {
            failures: leased.failures,
            contended: leased.contended,
        }
    }
}

impl Settled {
    /// Its name in metrics.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Completed(_) => "completed",
            Self::Failed(error) => error.label(),
            Self::Broken(why) => why,
            Self::Escaped => "escaped",
            Self::LeaseLost => "lease_lost",
            Self::Store(_) => "store",
            Self::Cancelled => "cancelled",
        }
    }
}
