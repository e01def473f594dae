//! The engine: built once, started once, shut down in one order.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use webhook_core::ledger::Ledger;
use webhook_core::{Clock, DataMap, Provider};

use crate::budget::Budget;
use crate::built::Built;
use crate::clock::SystemClock;
use crate::config::{ConfigError, StartError};
use crate::endpoint::Endpoint;
use crate::handle::EndpointHandle;
use crate::keys::{self, KeyStore, KeysError};
use crate::loops;
use crate::operator::{Operator, Report};
use crate::runtime::Runtimes;
use crate::shared::{Evidence, Life, Served, Shared, SingleFlight, Site};

/// A handle on the engine of one ledger. Cheap to clone; all clones are one engine.
pub struct Webhooks<L: Ledger> {
    shared: Arc<Shared<L>>,
    watch: Arc<Watch>,
}

/// Shared by the handles alone: when the last one goes, nobody can shut the engine down any more.
#[derive(Debug)]
struct Watch {
    started: AtomicBool,
    life: Life,
}

/// Collects endpoints, shared data and limits.
pub struct Builder<L: Ledger> {
    ledger: L,
    endpoints: Vec<Deferred<L::Conn>>,
    data: DataMap,
    twice: Option<&'static str>,
    clock: Arc<dyn Clock>,
    unauthenticated_bytes: usize,
}

/// An endpoint that is built when all data is known.
type Deferred<C> = Box<dyn FnOnce(&DataMap) -> Result<Built<C>, ConfigError>>;

impl<L: Ledger> Builder<L> {
    /// An engine on `ledger`.
    pub fn new(ledger: L) -> Self {
        Self {
            ledger,
            endpoints: Vec::new(),
            data: DataMap::default(),
            twice: None,
            clock: Arc::new(SystemClock),
            unauthenticated_bytes: 128 * 1024 * 1024,
        }
    }

    /// Serve an endpoint.
    #[must_use]
    pub fn endpoint<P: Provider>(mut self, endpoint: Endpoint<P, L::Conn>) -> Self {
        self.endpoints
            .push(Box::new(move |data| endpoint.build(data)));
        self
    }

    /// Share a value with handlers that take `Data<T>`.
    #[must_use]
    pub fn data<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        if !self.data.insert(Arc::new(value)) {
            self.twice = Some(std::any::type_name::<T>());
        }
        self
    }

    /// Judge freshness and key retirement by this clock. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Bytes of unauthenticated bodies the process holds at once. Default: 128 MiB.
    #[must_use]
    pub fn unauthenticated_bytes(mut self, bytes: usize) -> Self {
        self.unauthenticated_bytes = bytes;
        self
    }

    /// Check everything. Pure: nothing is started, opened or written.
    ///
    /// # Errors
    ///
    /// The first configuration fault, with the name of the endpoint, handler or setting.
    pub fn build(self) -> Result<Webhooks<L>, ConfigError> {
        if let Some(type_name) = self.twice {
            return Err(ConfigError::new(format!(
                "data of type `{type_name}` is given twice"
            )));
        }
        if self.endpoints.is_empty() {
            return Err(ConfigError::new("no endpoint: add `.endpoint(..)`"));
        }
        let mut endpoints = Vec::new();
        for endpoint in self.endpoints {
            endpoints.push(endpoint(&self.data)?);
        }
        check_together(&endpoints)?;
        if let Some(large) = endpoints
            .iter()
            .find(|built| built.max_body_bytes > self.unauthenticated_bytes)
        {
            return Err(ConfigError::endpoint(
                &large.name,
                "the body cap exceeds `unauthenticated_bytes`",
            ));
        }
        let places = self.ledger.max_transactions().max(2);
        let inline = places / 2;
        let life = Life::default();
        Ok(Webhooks {
            shared: Arc::new(Shared {
                ledger: self.ledger,
                endpoints: endpoints
                    .into_iter()
                    .map(|built| {
                        Arc::new(Served {
                            built,
                            bell: Notify::new(),
                        })
                    })
                    .collect(),
                data: self.data,
                clock: self.clock,
                budget: Budget::new(self.unauthenticated_bytes),
                evidence: Evidence::new(),
                inline_places: Arc::new(Semaphore::new(inline)),
                worker_places: Arc::new(Semaphore::new(places.saturating_sub(inline))),
                single_flight: SingleFlight::default(),
                reload: keys::Reload::default(),
                runtimes: OnceLock::new(),
                life: life.clone(),
            }),
            watch: Arc::new(Watch {
                started: AtomicBool::new(false),
                life,
            }),
        })
    }
}

impl<L: Ledger> Webhooks<L> {
    /// Collect endpoints for an engine on `ledger`.
    pub fn builder(ledger: L) -> Builder<L> {
        Builder::new(ledger)
    }

    /// Prepare the store and start the workers, once a process. Until then every delivery is
    /// answered 503.
    ///
    /// # Errors
    ///
    /// A store that is unreachable or unfit; a second start.
    pub async fn start(&self) -> Result<(), StartError> {
        if self.watch.started.swap(true, Ordering::SeqCst) {
            return Err(StartError::AlreadyStarted);
        }
        let started = self.try_start().await;
        if started.is_err() {
            self.watch.started.store(false, Ordering::SeqCst);
        }
        started
    }

    async fn try_start(&self) -> Result<(), StartError> {
        let shared = &self.shared;
        for served in &shared.endpoints {
            if let KeyStore::Listed(listed) = &served.built.keys {
                keys::warn_of_short_keys(&served.built.name, &listed.current());
            }
        }
        let registration = keys::registration(shared, None);
        let notices = shared
            .ledger
            // The machine's clock: one that the application brings may be a test's.
            .prepare(registration.clock(Arc::new(SystemClock)))
            .await?;
        for notice in notices {
            tracing::warn!(%notice, "the ledger has something to say");
        }
        let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let runtimes = Runtimes::start(threads)?;
        if shared.runtimes.set(runtimes).is_err() {
            return Err(StartError::AlreadyStarted);
        }
        for served in &shared.endpoints {
            loops::start(shared, served);
        }
        loops::listen(shared);
        if let Some(runtimes) = shared.runtimes.get() {
            let keep_up = keys::keep_up(shared.clone());
            shared.life.work.spawn_on(keep_up, runtimes.control());
        }
        Ok(())
    }

    /// Run `server` until it stops, then shut the engine down. What the server returned.
    pub async fn serve<S: IntoFuture>(&self, server: S) -> S::Output {
        let ended = server.await;
        self.shutdown().await;
        ended
    }

    /// Stop in order: accept nothing more, answer what is in flight, take no more events, give running
    /// handlers `grace`, hand the others back uncounted, close the ledger.
    ///
    /// Call it after the HTTP server has stopped.
    pub async fn shutdown_within(&self, grace: Duration) {
        let life = &self.shared.life;
        life.accepting.cancel();
        life.deliveries.close();
        life.deliveries.wait().await;
        life.dequeuing.cancel();
        life.work.close();
        if tokio::time::timeout(grace, life.work.wait()).await.is_err() {
            tracing::warn!("handlers outlasted the grace period and are handed back");
        }
        life.handling.cancel();
        life.work.wait().await;
        self.shared.ledger.close().await;
    }

    /// [`Webhooks::shutdown_within`] 10 seconds.
    pub async fn shutdown(&self) {
        self.shutdown_within(Duration::from_secs(10)).await;
    }

    /// The endpoints, for an HTTP adapter.
    pub fn endpoints(&self) -> impl Iterator<Item = EndpointHandle<L>> {
        self.shared.endpoints.iter().map(|served| {
            EndpointHandle::new(Site {
                shared: self.shared.clone(),
                served: served.clone(),
            })
        })
    }

    /// Read mounted keys again, now, and use what stands there: whoever calls says that it is whole. For
    /// a signal handler; without it the files are read every two seconds. Before `start()` it does nothing.
    ///
    /// # Errors
    ///
    /// The first endpoint's whose keys cannot be used. Its last good ones stay in use.
    pub async fn reload_keys(&self) -> Result<(), KeysError> {
        keys::reload(&self.shared).await
    }

    /// Look at the store as `start()` does, for a readiness probe.
    pub async fn doctor(&self) -> Report {
        Report::of(&self.shared.ledger, Arc::new(SystemClock)).await
    }

    /// Act as an operator; `actor` is recorded with every decision.
    pub fn operator(&self, actor: impl Into<String>) -> Operator<'_, L> {
        Operator::new(&self.shared.ledger, actor.into())
    }

    /// The ledger.
    pub fn ledger(&self) -> &L {
        &self.shared.ledger
    }
}

/// What only shows when endpoints stand side by side.
fn check_together<C>(endpoints: &[Built<C>]) -> Result<(), ConfigError> {
    let mut names = HashSet::new();
    let mut paths = HashMap::new();
    let mut keys = HashMap::new();
    for built in endpoints {
        if !names.insert(&built.name) {
            return Err(ConfigError::endpoint(
                &built.name,
                "the name is used twice: add `.named(..)`",
            ));
        }
        if let Some(other) = paths.insert(&built.path, &built.name) {
            return Err(ConfigError::endpoint(
                &built.name,
                format!("path `{}` is endpoint `{other}`'s", built.path),
            ));
        }
        let KeyStore::Listed(listed) = &built.keys else {
            continue;
        };
        for fingerprint in listed.current().fingerprints() {
            let Some((other, shared)) =
                keys.insert(fingerprint, (&built.name, built.secret_is_shared))
            else {
                continue;
            };
            if !(shared && built.secret_is_shared) {
                return Err(ConfigError::endpoint(
                    &built.name,
                    format!(
                        "endpoint `{other}` has the same secret, so that a request captured at one verifies \
                         at the other: give each its own, or say `.shared_secret()` on both"
                    ),
                ));
            }
        }
    }
    Ok(())
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.started.load(Ordering::SeqCst) && !self.life.accepting.is_cancelled() {
            tracing::error!(
                "the last handle was dropped without `shutdown()`: running handlers are handed back"
            );
            self.life.accepting.cancel();
            self.life.dequeuing.cancel();
            self.life.handling.cancel();
        }
    }
}

impl<L: Ledger> Clone for Webhooks<L> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            watch: self.watch.clone(),
        }
    }
}

impl<L: Ledger> fmt::Debug for Webhooks<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Webhooks").field(&self.shared).finish()
    }
}

impl<L: Ledger> fmt::Debug for Builder<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("endpoints", &self.endpoints.len())
            .field("data", &self.data)
            .finish_non_exhaustive()
    }
}
