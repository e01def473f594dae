//! The dispatcher: its parts, its start and its end.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use webhook_core::Clock;
use webhook_core::ledger::LedgerError;
use webhook_core::outbox::{HealthPolicy, Outbox, Retention};

use crate::clock::SystemClock;
use crate::endpoints::Endpoints;
use crate::engine::{Engine, Parts};
use crate::guard::GuardedClient;
use crate::schedule::Schedule;
use crate::scheme::Schemes;
use crate::vault::Vault;

/// Sends what is in an outbox. One a process; any number of processes.
///
/// It has threads of its own, started by [`Dispatcher::start`] and ended by [`Dispatcher::shutdown`].
pub struct Dispatcher<O: Outbox> {
    parts: Arc<Parts<O>>,
    threads: usize,
    running: Mutex<Option<Running>>,
}

/// Sets up a [`Dispatcher`].
#[derive(Debug)]
#[must_use]
pub struct DispatcherBuilder<O> {
    outbox: O,
    vault: Vault,
    client: GuardedClient,
    schemes: Schemes,
    schedule: Schedule,
    health: HealthPolicy,
    retention: Retention,
    clock: Arc<dyn Clock>,
    places: u32,
    max_bytes: u64,
    poll: Duration,
    threads: usize,
}

/// Why a dispatcher cannot be built.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A number is out of its bounds: which, and what they are.
    #[error("{0}")]
    Bounds(&'static str),
}

struct Running {
    engine: Engine,
    threads: Threads,
}

/// The engine's threads. Dropped, also within other runtimes, they are not waited for: attempts under way
/// are cut off, and made again when their leases are over.
struct Threads(Option<Runtime>);

impl<O: Outbox> Dispatcher<O> {
    /// Send from `outbox`, with secrets out of `vault`, through `client`.
    pub fn builder(outbox: O, vault: Vault, client: GuardedClient) -> DispatcherBuilder<O> {
        DispatcherBuilder {
            outbox,
            vault,
            client,
            schemes: Schemes::default(),
            schedule: Schedule::default(),
            health: HealthPolicy::default(),
            retention: Retention::default(),
            clock: Arc::new(SystemClock),
            places: 512,
            max_bytes: 64 * 1024 * 1024,
            poll: Duration::from_millis(200),
            threads: 2,
        }
    }

    /// Migrate the outbox and begin to send.
    ///
    /// # Errors
    ///
    /// The store's; nothing was started then. Starting what runs does nothing.
    pub async fn start(&self) -> Result<(), LedgerError> {
        self.parts.outbox.prepare().await?;
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            let runtime = Builder::new_multi_thread()
                .worker_threads(self.threads)
                .thread_name("webhook-dispatch")
                .enable_all()
                .build()
                .map_err(|error| {
                    LedgerError::new(webhook_core::ledger::LedgerFault::Internal, error)
                })?;
            let engine = Engine::start(runtime.handle(), &self.parts);
            *running = Some(Running {
                engine,
                threads: Threads(Some(runtime)),
            });
        }
        Ok(())
    }

    /// Look for new events now. Call it after the commit of what was enqueued, where a fifth of a second
    /// matters; without it they are found by polling.
    pub fn wake(&self) {
        self.parts.news.notify_one();
    }

    /// The endpoints, to be managed. Works whether or not it is started.
    pub fn endpoints(&self) -> Endpoints<O> {
        let Parts {
            outbox,
            vault,
            client,
            schemes,
            clock,
            ..
        } = &*self.parts;
        Endpoints::new(
            outbox.clone(),
            vault.clone(),
            client.clone(),
            schemes.clone(),
            clock.clone(),
        )
    }

    /// Begin nothing more, wait for attempts under way and record them. At most the client's deadline, and
    /// what the store takes. The outbox stays open.
    pub async fn shutdown(&self) {
        let running = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.take()
        };
        if let Some(Running { engine, threads }) = running {
            engine.stop().await;
            drop(threads);
        }
    }
}

impl<O: Outbox> DispatcherBuilder<O> {
    /// The signature schemes that endpoints may ask for.
    pub fn schemes(mut self, schemes: Schemes) -> Self {
        self.schemes = schemes;
        self
    }

    /// When failed deliveries are attempted again.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// When failing endpoints are left alone, told of, and disabled.
    pub fn health(mut self, policy: HealthPolicy) -> Self {
        self.health = policy;
        self
    }

    /// What is given up and forgotten, and when. Default: [`Retention::default`].
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// The clock that signatures bear. Schedules are the store's.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Attempts under way at once, in this process. Default: 512.
    pub fn places(mut self, places: u32) -> Self {
        self.places = places;
        self
    }

    /// Bytes of payload in memory at once, or one payload if that is larger. Default: 64 MiB.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How often to look for new events and due deliveries. Default: 200 ms.
    pub fn poll_every(mut self, interval: Duration) -> Self {
        self.poll = interval;
        self
    }

    /// Threads that send. Default: 2.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Check everything; start nothing.
    ///
    /// # Errors
    ///
    /// [`SetupError`] for numbers that cannot work.
    pub fn build(self) -> Result<Dispatcher<O>, SetupError> {
        let refuse = |is_bad: bool, words| {
            if is_bad {
                Err(SetupError::Bounds(words))
            } else {
                Ok(())
            }
        };
        refuse(
            !(1..=10_000).contains(&self.places),
            "places are 1 to 10000 attempts under way",
        )?;
        refuse(self.max_bytes == 0, "payloads in memory need a byte")?;
        refuse(
            self.poll < Duration::from_millis(10) || self.poll > Duration::from_mins(1),
            "polling is every 10 ms to 1 minute",
        )?;
        refuse(
            !(1..=64).contains(&self.threads),
            "threads that send are 1 to 64",
        )?;
        refuse(
            self.retention.give_up_after < self.schedule.span(),
            "deliveries would be given up before their schedule is over",
        )?;
        refuse(
            self.retention.keep_events < self.retention.give_up_after,
            "events are kept at least until their deliveries are given up",
        )?;
        refuse(
            !(1..=100_000).contains(&self.retention.batch),
            "pruning is in batches of 1 to 100000 rows",
        )?;
        let deadline = self.client.deadline();
        Ok(Dispatcher {
            parts: Arc::new(Parts {
                outbox: self.outbox,
                vault: self.vault,
                client: self.client,
                schemes: self.schemes,
                schedule: self.schedule,
                health: self.health,
                retention: self.retention,
                clock: self.clock,
                places: self.places,
                max_bytes: self.max_bytes,
                poll: self.poll,
                // Time to be sent, to be recorded, and as much again for a slow store.
                lease: deadline.saturating_mul(3),
                slow_after: deadline.checked_div(2).unwrap_or_default(),
                news: tokio::sync::Notify::new(),
            }),
            threads: self.threads,
            running: Mutex::new(None),
        })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl<O: Outbox> fmt::Debug for Dispatcher<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher")
            .field("outbox", &self.parts.outbox)
            .finish_non_exhaustive()
    }
}
