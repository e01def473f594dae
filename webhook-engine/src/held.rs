//! The leases that this process holds for one endpoint, kept alive until their events are settled.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use webhook_core::ledger::{Lease, Ledger};

use crate::shared::{Served, Shared};
use crate::telemetry;

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Held {
    leases: Mutex<HashMap<Lease, Holding>>,
    /// Rung when one is let go.
    pub(crate) freed: Notify,
}

#[derive(Debug)]
struct Holding {
    lost: CancellationToken,
    /// On our own clock, from before the statement was sent: by then the store has let go of it.
    until: Instant,
}

/// A lease that is renewed for as long as this lives. Even a panic of ours must end that, or the event
/// would never run out of its lease.
#[derive(Debug)]
pub(crate) struct Hold {
    held: Arc<Held>,
    lease: Lease,
    /// Cancelled when it is lost.
    pub(crate) lost: CancellationToken,
}

impl Held {
    /// Hold a lease of this length, granted by a statement sent at `sent`.
    pub(crate) fn hold(self: &Arc<Self>, lease: Lease, sent: Instant, length: Duration) -> Hold {
        let lost = CancellationToken::new();
        let holding = Holding {
            lost: lost.clone(),
            until: expires(sent, length),
        };
        self.with(|held| held.insert(lease, holding));
        Hold {
            held: self.clone(),
            lease,
            lost,
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.with(|held| held.len())
    }

    fn leases(&self) -> Vec<Lease> {
        self.with(|held| held.keys().copied().collect())
    }

    fn renewed(&self, asked: &[Lease], kept: Vec<Lease>, sent: Instant, length: Duration) {
        let kept: HashSet<Lease> = kept.into_iter().collect();
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

    /// Give up whatever runs out, for ever. Beside the renewals: one that hangs must not delay it.
    async fn watch(&self, length: Duration) {
        loop {
            tokio::time::sleep(length.mul_f64(TICK)).await;
            let now = Instant::now();
            self.with(|held| {
                for holding in held.values().filter(|holding| holding.until <= now) {
                    holding.lost.cancel();
                }
            });
        }
    }

    fn with<T>(&self, f: impl FnOnce(&mut HashMap<Lease, Holding>) -> T) -> T {
        f(&mut self.leases.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Hold {
    /// Whether it is lost, or was not renewed in time: a process that was stopped finds leases over that
    /// nobody has told it of.
    pub(crate) fn is_over(&self) -> bool {
        let now = Instant::now();
        let holding = |held: &mut HashMap<Lease, Holding>| {
            let until = held.get(&self.lease).map(|holding| holding.until);
            until.is_none_or(|until| until <= now)
        };
        self.lost.is_cancelled() || self.held.with(holding)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.held.with(|held| held.remove(&self.lease));
        self.held.freed.notify_one();
    }
}

/// Renew what is held, three times a lease, until the handlers are told to stop. What the store no
/// longer grants, or could not be asked about in time, is cancelled before its lease is over.
pub(crate) async fn heartbeat<L: Ledger>(
    shared: Arc<Shared<L>>,
    served: Arc<Served<L::Conn>>,
    held: Arc<Held>,
) {
    let built = &served.built;
    let third = built.lease.div_f64(3.0);
    let renewals = async {
        loop {
            tokio::time::sleep(third.mul_f64(0.8)).await;
            let leases = held.leases();
            if leases.is_empty() {
                continue;
            }
            let sent = Instant::now();
            let renewed =
                tokio::time::timeout(third, shared.ledger.renew(leases.clone(), built.lease));
            match renewed.await {
                Ok(Ok(kept)) => held.renewed(&leases, kept, sent, built.lease),
                Ok(Err(_)) | Err(_) => telemetry::ledger_fault(&built.name, "renew"),
            }
        }
    };
    tokio::select! {
        () = shared.life.handling.cancelled() => {}
        () = renewals => {}
        () = held.watch(built.lease) => {}
    }
}

/// When a lease granted by a statement sent at `sent` must be given up, with a margin for our own delays.
#[expect(clippy::arithmetic_side_effects, reason = "a lease is at most an hour")]
fn expires(sent: Instant, length: Duration) -> Instant {
    sent + length.mul_f64(GIVE_UP)
}

/// The part of a lease after which it is given up, and that between two looks at what is held: together
/// less than the whole.
const GIVE_UP: f64 = 0.9;
const TICK: f64 = 0.05;

#[cfg(test)]
mod tests {
    use webhook_core::InboxId;
    use webhook_core::ledger::FencingToken;

    use super::*;

    const LENGTH: Duration = Duration::from_secs(30);

    fn lease(token: i64) -> Lease {
        Lease::new(InboxId::from_bytes([0; 16]), FencingToken::new(token))
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_renewed_is_given_up_before_its_lease_is_over() {
        let held = Arc::new(Held::default());
        let sent = Instant::now();
        let one = held.hold(lease(1), sent, LENGTH);
        tokio::select! {
            () = held.watch(LENGTH) => {}
            () = one.lost.cancelled() => {}
            () = tokio::time::sleep(LENGTH) => panic!("held to the end"),
        }
        assert!(sent.elapsed() >= LENGTH.mul_f64(GIVE_UP));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_renewed_is_held_and_what_is_not_kept_is_lost_at_once() {
        let held = Arc::new(Held::default());
        let (a, b) = (lease(1), lease(2));
        let (kept, lost) = (
            held.hold(a, Instant::now(), LENGTH),
            held.hold(b, Instant::now(), LENGTH),
        );
        tokio::time::advance(LENGTH / 2).await;
        held.renewed(&[a, b], vec![a], Instant::now(), LENGTH);
        assert!(lost.lost.is_cancelled());
        let late = tokio::time::timeout(LENGTH.mul_f64(0.8), held.watch(LENGTH));
        assert!(late.await.is_err() && !kept.lost.is_cancelled());
        assert_eq!(held.count(), 2);
        drop((kept, lost));
        assert_eq!(held.count(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_renewed_in_time_is_over_before_anybody_says_so() {
        let held = Arc::new(Held::default());
        let (a, b) = (lease(1), lease(2));
        let (renewed, stopped) = (
            held.hold(a, Instant::now(), LENGTH),
            held.hold(b, Instant::now(), LENGTH),
        );
        tokio::time::advance(LENGTH / 2).await;
        held.renewed(&[a], vec![a], Instant::now(), LENGTH);
        assert!(!renewed.is_over() && !stopped.is_over());
        tokio::time::advance(LENGTH / 2).await;
        assert!(!renewed.is_over());
        assert!(stopped.is_over() && !stopped.lost.is_cancelled());
        held.renewed(&[a], Vec::new(), Instant::now(), LENGTH);
        assert!(renewed.is_over());
    }
}
