//! The leases that this process holds for one endpoint, kept alive until their events are settled.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
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

    fn expire(&self) {
        let now = Instant::now();
        self.with(|held| {
            for holding in held.values().filter(|holding| holding.until <= now) {
                holding.lost.cancel();
            }
        });
    }

    fn with<T>(&self, f: impl FnOnce(&mut HashMap<Lease, Holding>) -> T) -> T {
        f(&mut self.leases.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.held.with(|held| held.remove(&self.lease));
        self.held.freed.notify_one();
    }
}

/// Renew what is held, three times a lease, until the handlers are told to stop. What the store no
/// longer grants, or could not be asked about in time, is cancelled.
pub(crate) async fn heartbeat<L: Ledger>(
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
            Ok(Ok(kept)) => held.renewed(&leases, kept, sent, built.lease),
            Ok(Err(_)) | Err(_) => telemetry::ledger_fault(&built.name, "renew"),
        }
        held.expire();
    }
}

/// When a lease granted by a statement sent at `sent` must be given up, with a margin for our own delays.
#[expect(clippy::arithmetic_side_effects, reason = "a lease is at most an hour")]
fn expires(sent: Instant, length: Duration) -> Instant {
    sent + length.mul_f64(0.9)
}
