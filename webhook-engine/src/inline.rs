//! Inline dispatch: claim, effect and completion in one transaction inside the request.

use std::time::Duration;

use tokio::time::Instant;
use webhook_core::ledger::{
    Failure, Inline, Lease, Leased, Ledger, LedgerTx as _, Next, TRANSACTION_ESCAPED, TxLimits,
};
use webhook_core::{Claim, Disposition, NewEvent, Outcome, Reply};

use crate::attempt::{Lender, Settled, bind};
use crate::policy::OnFailure;
use crate::settled::{late, outcome, unavailable};
use crate::shared::Site;
use crate::telemetry;

type Ran = (Outcome, Option<Reply>);

/// Run `event` to its end on the engine's own threads; the request only waits.
pub(crate) async fn run<L: Ledger>(site: Site<L>, event: NewEvent) -> Ran {
    let Some(runtimes) = site.shared.runtimes.get() else {
        return (Outcome::NotServing, None);
    };
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the deadline is at most an hour"
    )]
    let deadline = Instant::now() + site.built().inline_deadline;
    let task = site.shared.life.deliveries.track_future({
        let site = site.clone();
        async move { attempt(&site, event, deadline).await }
    });
    let ran = runtimes.handlers().spawn(task).await;
    ran.unwrap_or((Outcome::HandlerFailed, None))
}

async fn attempt<L: Ledger>(site: &Site<L>, event: NewEvent, deadline: Instant) -> Ran {
    let shared = &site.shared;
    let built = site.built();
    // Copies of one event wait here, without a connection, and find its outcome afterwards.
    let in_time = async {
        let alone = shared.single_flight.enter(event.id_key()).await;
        let place = shared.inline_places.clone().acquire_owned().await.ok()?;
        Some((alone, place))
    };
    let Ok(Some((_alone, place))) = tokio::time::timeout_at(deadline, in_time).await else {
        return (Outcome::Deadline, None);
    };
    let Some(handler) = built.handler(event.event_type().as_str()) else {
        return (Outcome::Ignored, None);
    };
    let limits = limits(deadline, built.lease);
    let begun = shared.ledger.begin_inline(event.clone(), limits);
    let (tx, leased) = match tokio::time::timeout_at(deadline, begun).await {
        Ok(Ok(Inline::Granted(tx, leased))) => (tx, *leased),
        Ok(Ok(Inline::Settled(claim))) => return outcome(built, claim),
        Ok(Ok(_)) => return (Outcome::StoreUnavailable, None),
        Ok(Err(fault)) => return (unavailable(&built.name, &fault), None),
        Err(_) => return (late(&built.name), None),
    };
    let started = std::time::Instant::now();
    let Leased { lease, .. } = leased;
    let (claimed, canonical) = bind(shared, built, handler, leased);
    let mut lender = Lender::opened(shared, lease, limits, tx, place);
    let late = tokio::time::sleep_until(deadline);
    let ended = lender
        .run(handler, &claimed, built.run_limits(), late)
        .await;
    let settled = lender.settle(ended, canonical).await;
    let name = handler.spec().name;
    built
        .meters
        .attempt(name, settled.label(), started.elapsed());
    match settled {
        Settled::Completed(reply) => (Outcome::Completed, Some(reply)),
        Settled::Failed(error) if error.disposition() == Disposition::Ignore => {
            complete_without_effect(site, event, limits).await
        }
        Settled::Failed(error) => {
            tracing::warn!(endpoint = %built.name, handler = name, %error, "inline handler failed");
            let hopeless = error.disposition() == Disposition::DeadLetter;
            failed(site, event, hopeless).await
        }
        Settled::Broken(why) => {
            tracing::warn!(endpoint = %built.name, handler = name, why, "inline attempt failed");
            failed(site, event, false).await
        }
        Settled::Cancelled => {
            tracing::warn!(endpoint = %built.name, handler = name, "inline deadline passed");
            failed(site, event, false).await
        }
        Settled::Escaped => {
            tracing::error!(endpoint = %built.name, handler = name, "handler ended the transaction itself");
            bury(site, lease, event).await
        }
        // Its row went with the transaction: nothing was kept, so nothing is acknowledged.
        Settled::LeaseLost => (Outcome::Deadline, None),
        Settled::Store(Some(fault)) => (unavailable(&site.built().name, &fault), None),
        Settled::Store(None) => (Outcome::StoreUnavailable, None),
    }
}

/// After the rollback: leave the event to the workers, or to the provider's retry. A hopeless event
/// goes to the inbox in any case: that is where dead letters are kept.
async fn failed<L: Ledger>(site: &Site<L>, event: NewEvent, hopeless: bool) -> Ran {
    let built = site.built();
    if built.on_failure == OnFailure::Refuse && !hopeless {
        return (Outcome::HandlerFailed, None);
    }
    let claim = site.shared.ledger.claim(vec![event]);
    match tokio::time::timeout(built.acknowledge_within, claim).await {
        Ok(Ok(claims)) => {
            site.served.bell.notify_one();
            let claim = claims.into_iter().next();
            claim.map_or((Outcome::StoreUnavailable, None), |claim| {
                outcome(built, claim)
            })
        }
        Ok(Err(fault)) => (unavailable(&site.built().name, &fault), None),
        Err(_) => (late(&built.name), None),
    }
}

/// The handler's effect may stand: neither a worker nor the provider's retry may run it again.
async fn bury<L: Ledger>(site: &Site<L>, lease: Lease, event: NewEvent) -> Ran {
    let ledger = &site.shared.ledger;
    let endpoint = &site.built().name;
    let quiet = site.built().backoff.longest;
    let failure = Failure::new(TRANSACTION_ESCAPED, Next::Dead { quiet });
    telemetry::dead(endpoint, 1);
    match ledger.fail(lease, failure).await {
        Ok(true) => (Outcome::DeadLettered, None),
        // The handler undid the claim as well: claim it again, as what it is now.
        Ok(false) => match ledger.claim(vec![event.escaped()]).await {
            Ok(claims) => {
                if claims != [Claim::Stored] {
                    tracing::error!(endpoint = %endpoint, "another delivery of the event was quicker: its effect may happen twice");
                }
                (Outcome::DeadLettered, None)
            }
            Err(fault) => (unavailable(endpoint, &fault), None),
        },
        Err(fault) => (unavailable(endpoint, &fault), None),
    }
}

/// The handler said there is nothing to do: complete the event, its effect undone.
async fn complete_without_effect<L: Ledger>(
    site: &Site<L>,
    event: NewEvent,
    limits: TxLimits,
) -> Ran {
    let canonical = event.canonical();
    match site.shared.ledger.begin_inline(event, limits).await {
        Ok(Inline::Granted(tx, _)) => {
            let done = webhook_core::ledger::Completion::new(Reply::default(), canonical);
            match tx.complete(done).await {
                Ok(webhook_core::ledger::Committed::Committed) => (Outcome::Completed, None),
                Ok(_) => (Outcome::HandlerFailed, None),
                Err(fault) => (unavailable(&site.built().name, &fault), None),
            }
        }
        Ok(Inline::Settled(claim)) => outcome(site.built(), claim),
        Ok(_) => (Outcome::StoreUnavailable, None),
        Err(fault) => (unavailable(&site.built().name, &fault), None),
    }
}

/// What is left of the request's time bounds every statement; locks a little less.
fn limits(deadline: Instant, lease: Duration) -> TxLimits {
    let left = deadline
        .saturating_duration_since(Instant::now())
        .max(Duration::from_millis(50));
    TxLimits::new(left, lease).lock(left.mul_f64(0.8))
}
