//! Workers of one endpoint: take due events, run them, keep their leases.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use webhook_core::ledger::{
    Completion, Failure, Lease, Leased, Ledger, Next, TRANSACTION_ESCAPED, Take,
};
use webhook_core::{Disposition, fault_point};

use crate::attempt::{Lender, Settled, bind};
use crate::built::{Built, Erased};
use crate::shared::{Served, Shared};
use crate::{pruner, telemetry};

/// Longest sleep between two looks into the inbox; a bell wakes the workers of this process earlier.
const POLL: Duration = Duration::from_millis(500);
/// Pause after the store failed.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// Attempts ended by contention that are repeated at once, and after which the event is dead.
const FEW_CONTENTIONS: u32 = 10;
const MANY_CONTENTIONS: u32 = 100;

/// What was tried before.
#[derive(Debug, Clone, Copy)]
struct Tries {
    failures: u32,
    contended: u32,
}

/// Leases held by this process for one endpoint.
#[derive(Debug, Default)]
struct Held(Mutex<HashMap<Lease, Holding>>);

#[derive(Debug)]
struct Holding {
    lost: CancellationToken,
    /// On our own clock, from before the statement was sent: by then the store has let go of it.
    until: Instant,
}

/// A lease that is renewed for as long as this lives. Even a panic of ours must end that, or the event
/// would never run out of its lease.
struct Hold(Arc<Held>, Lease);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.release(self.1);
    }
}

/// Start the endpoint's loops on the engine's control thread.
pub(crate) fn start<L: Ledger>(shared: &Arc<Shared<L>>, served: &Arc<Served<L::Conn>>) {
    let Some(runtimes) = shared.runtimes.get() else {
        return;
    };
    let held = Arc::new(Held::default());
    let beat = heartbeat(shared.clone(), served.clone(), held.clone());
    let take = dequeue(shared.clone(), served.clone(), held);
    shared.life.work.spawn_on(take, runtimes.control());
    runtimes.control().spawn(beat);
    let prune = pruner::prune(shared.clone(), served.clone());
    shared.life.work.spawn_on(prune, runtimes.control());
}

/// Ring the endpoints' bells when the ledger has word from another process.
pub(crate) fn listen<L: Ledger>(shared: &Arc<Shared<L>>) {
    let Some(runtimes) = shared.runtimes.get() else {
        return;
    };
    let shared = shared.clone();
    runtimes.control().spawn(async move {
        loop {
            let endpoint = tokio::select! {
                () = shared.life.dequeuing.cancelled() => return,
                endpoint = shared.ledger.arrival() => endpoint,
            };
            let served = shared
                .endpoints
                .iter()
                .find(|served| served.built.name == endpoint);
            if let Some(served) = served {
                served.bell.notify_one();
            }
        }
    });
}

async fn dequeue<L: Ledger>(shared: Arc<Shared<L>>, served: Arc<Served<L::Conn>>, held: Arc<Held>) {
    let built = &served.built;
    let places = Arc::new(Semaphore::new(built.concurrency as usize));
    let event_types = built.event_types();
    let stop = &shared.life.dequeuing;
    while !stop.is_cancelled() {
        // Only as many are taken as can start at once: a lease never waits for its handler.
        let first = tokio::select! {
            () = stop.cancelled() => break,
            place = places.clone().acquire_owned() => place,
        };
        let Ok(first) = first else { break };
        let more = places.available_permits();
        let free = u32::try_from(more.saturating_add(1)).unwrap_or(u32::MAX);
        let want = Take::new(built.name.clone(), event_types.clone(), built.lease)
            .at_most(free)
            .max_crashes(built.max_crashes)
            .longest_pause(built.backoff.longest);
        let sent = Instant::now();
        let taken = match shared.ledger.take(want).await {
            Ok(taken) => taken,
            Err(fault) => {
                tracing::warn!(endpoint = %built.name, %fault, "events not taken");
                telemetry::ledger_fault(&built.name, "take");
                pause(stop, STORE_PAUSE).await;
                continue;
            }
        };
        if taken.buried > 0 {
            tracing::error!(endpoint = %built.name, events = taken.buried, "events crashed too often");
            telemetry::dead(&built.name, taken.buried);
        }
        if taken.events.is_empty() {
            drop(first);
            tokio::select! {
                () = stop.cancelled() => {}
                () = served.bell.notified() => {}
                () = tokio::time::sleep(POLL.mul_f64(rand::random_range(0.8..1.2))) => {}
            }
            continue;
        }
        let mut place = Some(first);
        for leased in taken.events {
            let place = place
                .take()
                .or_else(|| places.clone().try_acquire_owned().ok());
            let lost = held.hold(leased.lease, sent, built.lease);
            let hold = Hold(held.clone(), leased.lease);
            let work = {
                let (shared, served) = (shared.clone(), served.clone());
                async move {
                    let _held = (place, hold);
                    run(&shared, &served, leased, lost).await;
                }
            };
            if let Some(runtimes) = shared.runtimes.get() {
                shared.life.work.spawn_on(work, runtimes.handlers());
            }
        }
    }
}

/// Run one leased event and record what became of it.
async fn run<L: Ledger>(
    shared: &Shared<L>,
    served: &Served<L::Conn>,
    leased: Leased,
    lost: CancellationToken,
) {
    fault_point!("take.done", _ => return);
    let built = &served.built;
    let (lease, tries) = (leased.lease, Tries::of(&leased));
    let Some(handler) = built.handler(leased.event.event_type.as_str()) else {
        // `take` asked only for types that have one.
        return hand_back(shared, built, lease).await;
    };
    let began = Instant::now();
    let (claimed, canonical) = bind(shared, built, handler, leased);
    let mut lender = Lender::new(shared, lease, built.worker_limits());
    let stop = async {
        tokio::select! {
            () = lost.cancelled() => {}
            () = shared.life.handling.cancelled() => {}
        }
    };
    let ended = lender
        .run(handler, &claimed, built.run_limits(), stop)
        .await;
    let settled = lender.settle(ended, canonical).await;
    let took = began.elapsed();
    built
        .meters
        .attempt(handler.spec().name, settled.label(), took);
    record(
        shared,
        built,
        handler,
        lease,
        tries,
        settled,
        lost.is_cancelled(),
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
            Disposition::Ignore => return complete(shared, built, lease).await,
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

async fn complete<L: Ledger>(shared: &Shared<L>, built: &Built<L::Conn>, lease: Lease) {
    if shared
        .ledger
        .complete(lease, Completion::default())
        .await
        .is_err()
    {
        telemetry::ledger_fault(&built.name, "complete");
    }
}

async fn hand_back<L: Ledger>(shared: &Shared<L>, built: &Built<L::Conn>, lease: Lease) {
    if shared.ledger.hand_back(vec![lease]).await.is_err() {
        telemetry::ledger_fault(&built.name, "hand_back");
    }
}

/// Renew what is held, three times a lease, until the handlers are told to stop. What the store no
/// longer grants, or could not be asked about in time, is cancelled.
async fn heartbeat<L: Ledger>(
    shared: Arc<Shared<L>>,
    served: Arc<Served<L::Conn>>,
    held: Arc<Held>,
) {
    let built = &served.built;
    let third = built.lease.div_f64(3.0);
    loop {
        tokio::select! {
            () = shared.life.handling.cancelled() => return,
            () = tokio::time::sleep(third.mul_f64(0.8)) => {}
        }
        let leases = held.leases();
        if leases.is_empty() {
            continue;
        }
        let sent = Instant::now();
        let renewed = tokio::time::timeout(third, shared.ledger.renew(leases.clone(), built.lease));
        match renewed.await {
            Ok(Ok(kept)) => held.renewed(&leases, &kept, sent, built.lease),
            Ok(Err(_)) | Err(_) => telemetry::ledger_fault(&built.name, "renew"),
        }
        held.expire();
    }
}

async fn pause(stop: &CancellationToken, length: Duration) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(length) => {}
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

impl Held {
    fn hold(&self, lease: Lease, sent: Instant, length: Duration) -> CancellationToken {
        let lost = CancellationToken::new();
        let holding = Holding {
            lost: lost.clone(),
            until: expires(sent, length),
        };
        self.with(|held| held.insert(lease, holding));
        lost
    }

    fn release(&self, lease: Lease) {
        self.with(|held| held.remove(&lease));
    }

    fn leases(&self) -> Vec<Lease> {
        self.with(|held| held.keys().copied().collect())
    }

    fn renewed(&self, asked: &[Lease], kept: &[Lease], sent: Instant, length: Duration) {
        self.with(|held| {
            for lease in asked {
                if let Some(holding) = held.get_mut(lease) {
                    if kept.contains(lease) {
                        holding.until = expires(sent, length);
                    } else {
                        holding.lost.cancel();
                    }
                }
            }
        });
    }

    fn expire(&self) {
        let now = Instant::now();
        self.with(|held| {
            for holding in held.values().filter(|holding| holding.until <= now) {
                holding.lost.cancel();
            }
        });
    }

    fn with<T>(&self, f: impl FnOnce(&mut HashMap<Lease, Holding>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// When a lease granted by a statement sent at `sent` must be given up, with a margin for our own delays.
#[expect(clippy::arithmetic_side_effects, reason = "a lease is at most an hour")]
fn expires(sent: Instant, length: Duration) -> Instant {
    sent + length.mul_f64(0.9)
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
