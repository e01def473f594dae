//! What every part of the engine shares.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Instant;

use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use webhook_core::ledger::Ledger;
use webhook_core::{Arrival, ClaimKey, Clock, DataMap, Outcome};

use crate::budget::Budget;
use crate::built::Built;
use crate::keys::Reload;
use crate::response::Reception;
use crate::runtime::Runtimes;

pub(crate) struct Shared<L: Ledger> {
    pub(crate) ledger: L,
    pub(crate) endpoints: Vec<Arc<Served<L::Conn>>>,
    pub(crate) data: DataMap,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) budget: Budget,
    pub(crate) evidence: Evidence,
    /// Free places for the transactions of inline handlers: waiting for one holds no connection.
    pub(crate) inline_places: Arc<Semaphore>,
    /// Free places for those of workers: neither mode can take the other's connections.
    pub(crate) worker_places: Arc<Semaphore>,
    pub(crate) single_flight: SingleFlight,
    pub(crate) reload: Reload,
    pub(crate) runtimes: OnceLock<Runtimes>,
    pub(crate) life: Life,
}

/// A built endpoint and the bell that wakes its workers.
pub(crate) struct Served<C> {
    pub(crate) built: Built<C>,
    pub(crate) bell: Notify,
}

/// One endpoint of one engine: where everything that happens to a delivery happens.
pub(crate) struct Site<L: Ledger> {
    pub(crate) shared: Arc<Shared<L>>,
    pub(crate) served: Arc<Served<L::Conn>>,
}

/// The stages of shutdown, in the order in which they are cancelled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    /// Cancelled: no delivery is accepted any more.
    pub(crate) accepting: CancellationToken,
    /// Cancelled: no event is taken from the inbox any more.
    pub(crate) dequeuing: CancellationToken,
    /// Cancelled: running handlers stop at their next await and are handed back.
    pub(crate) handling: CancellationToken,
    /// Deliveries between their last byte and their answer.
    pub(crate) deliveries: TaskTracker,
    /// Worker loops and attempts.
    pub(crate) work: TaskTracker,
}

/// A bounded rate of looking closer at stale deliveries, to learn whether they are authentic.
#[derive(Debug)]
pub(crate) struct Evidence(Mutex<(Instant, f64)>);

/// One inline delivery of an event at a time in this process; the others wait without a connection.
#[derive(Debug, Default)]
pub(crate) struct SingleFlight(Mutex<HashMap<ClaimKey, Weak<AsyncMutex<()>>>>);

impl<L: Ledger> Shared<L> {
    pub(crate) fn now(&self) -> Arrival {
        Arrival::observed(&*self.clock)
    }
}

impl<L: Ledger> Site<L> {
    pub(crate) fn built(&self) -> &Built<L::Conn> {
        &self.served.built
    }

    /// The standard answer to `outcome`.
    pub(crate) fn reception(&self, outcome: Outcome) -> Reception {
        Reception::of(outcome, self.built().provider.spec().success())
    }
}

impl<L: Ledger> Clone for Site<L> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            served: self.served.clone(),
        }
    }
}

impl Evidence {
    const PER_SECOND: f64 = 5.0;
    /// Longest body looked at for evidence.
    pub(crate) const MAX_BODY_BYTES: usize = 1024 * 1024;

    pub(crate) fn new() -> Self {
        Self(Mutex::new((Instant::now(), Self::PER_SECOND)))
    }

    /// Whether one more delivery may be looked at.
    pub(crate) fn take(&self) -> bool {
        let mut bucket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let grown = now.duration_since(bucket.0).as_secs_f64() * Self::PER_SECOND;
        let tokens = (bucket.1 + grown).min(Self::PER_SECOND);
        let granted = tokens >= 1.0;
        *bucket = (now, if granted { tokens - 1.0 } else { tokens });
        granted
    }
}

impl SingleFlight {
    pub(crate) async fn enter(&self, key: ClaimKey) -> OwnedMutexGuard<()> {
        let lock = {
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let held = open.get(&key).and_then(Weak::upgrade);
            held.unwrap_or_else(|| {
                if open.len() >= 1024 {
                    open.retain(|_, lock| lock.strong_count() > 0);
                }
                let lock = Arc::new(AsyncMutex::new(()));
                open.insert(key, Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

impl<L: Ledger> fmt::Debug for Shared<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.endpoints.iter().map(|served| &served.built.name);
        f.debug_list().entries(names).finish()
    }
}
