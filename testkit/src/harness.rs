//! An application in this process: real endpoints, handlers and workers on a ledger of the test's own.

#[cfg(feature = "sqlite")]
mod sqlite;

use std::convert::Infallible;
use std::fmt;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use futures_util::stream;
use webhook_core::ledger::{Found, Ledger, Quarantined, Search};
use webhook_core::{BoxFuture, Head, KeyConfig, State};
use webhook_engine::{Builder, EndpointHandle, Keys, Webhooks};
use webhook_fixtures::{Delivery, Event, Setup, sender};

use crate::answer::Answer;
use crate::manual_clock::ManualClock;
use crate::stage::{Point, Stage};
use crate::staged::Staged;

#[cfg(feature = "sqlite")]
use sqlite::File;

/// What a harness shows for the present when it starts, in Unix seconds: 15 June 2025, 15:06:40 UTC.
const START: i64 = 1_750_000_000;
/// A test that waits longer is lost.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at what is awaited.
const GLANCE: Duration = Duration::from_millis(5);

/// An application under test.
///
/// It is the engine with the application's endpoints, without an HTTP framework: what an adapter hands to the engine is
/// handed to it here, head and body as a provider sends them. To drive a whole server over TCP, in any language, see
/// [`Http`](crate::Http).
///
/// The clock is manual, the ledger is on a [`Stage`], and nothing is left behind.
pub struct Harness<L: Ledger> {
    clock: ManualClock,
    stage: Stage,
    webhooks: Webhooks<Staged<L>>,
    open: Open<L>,
    mount: Mount<L>,
    #[cfg(feature = "sqlite")]
    file: Option<File>,
}

type Open<L> = Box<dyn Fn() -> BoxFuture<'static, L> + Send + Sync>;
type Mount<L> = Box<dyn Fn(Builder<Staged<L>>) -> Builder<Staged<L>> + Send + Sync>;

/// The keys that [`Harness::send`] signs with, for the endpoint of the provider of this name.
pub fn keys(provider: &str) -> Keys {
    let sender = sender(provider, &Setup::default()).unwrap_or_else(|fault| panic!("{fault}"));
    Keys::new([KeyConfig::new(sender.example_secret())])
}

impl<L: Ledger> Harness<L> {
    /// Start the endpoints that `mount` adds on the ledger that `open` opens. Both are asked once more after a crash.
    pub async fn on<F>(
        open: impl Fn() -> F + Send + Sync + 'static,
        mount: impl Fn(Builder<Staged<L>>) -> Builder<Staged<L>> + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = L> + Send + 'static,
    {
        let (clock, stage) = (ManualClock::at(START), Stage::default());
        let open: Open<L> = Box::new(move || Box::pin(open()));
        let mount: Mount<L> = Box::new(mount);
        let webhooks = launch(&open, &mount, &clock, &stage).await;
        Self {
            clock,
            stage,
            webhooks,
            open,
            mount,
            #[cfg(feature = "sqlite")]
            file: None,
        }
    }

    /// Its clock: freshness is judged by it, and [`Harness::send`] signs at it. Leases are on the store's.
    pub fn clock(&self) -> &ManualClock {
        &self.clock
    }

    /// Where crashes, delays and failures are planned.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Its engine, to serve it on a framework: `webhook_actix::Webhooks::from`, `webhook_axum::router`.
    pub fn webhooks(&self) -> &Webhooks<Staged<L>> {
        &self.webhooks
    }

    /// Its ledger, for what this type does not ask.
    pub fn ledger(&self) -> &L {
        self.webhooks.ledger().within()
    }

    /// Sign `event` with the provider's example secret, now, and deliver it.
    pub async fn send(&self, event: impl Into<Event>) -> Answer {
        self.deliver(&self.signed(event)).await
    }

    /// The delivery that [`Harness::send`] would make.
    pub fn signed(&self, event: impl Into<Event>) -> Delivery {
        let event = event.into();
        event.signed(&event.sender().example_keys(), self.clock.now())
    }

    /// Deliver it to the endpoint at its path, or to the only endpoint.
    ///
    /// No answer if the process crashed on the way: see [`Stage`].
    pub async fn deliver(&self, delivery: &Delivery) -> Answer {
        let (endpoint, tenant) = self.endpoint_at(&delivery.path);
        let is_served = delivery.method == "POST" || endpoint.answers_get();
        assert!(
            is_served,
            "{} answers no {}",
            endpoint.name(),
            delivery.method
        );
        let target = delivery.target(&delivery.path);
        let fields = delivery.headers.iter();
        let fields = fields.map(|(name, value)| (name.as_str(), value.as_slice()));
        let head = Head::new(delivery.method, &target, fields);
        let body = stream::iter([Ok::<_, Infallible>(delivery.body.clone())]);
        let delivered = endpoint.deliver(head, tenant.as_deref(), body).await;
        if self.stage.is_crashed() {
            return Answer::none();
        }
        Answer {
            status: Some(delivered.response.status),
            content_type: delivered.response.content_type,
            body: delivered.response.body,
        }
    }

    /// Deliver it `times` at once: none is claimed before all are verified and about to be.
    pub async fn race(&self, times: usize, delivery: &Delivery) -> Vec<Answer> {
        self.stage.meet(Point::BeforeClaim, times);
        let answers = join_all((0..times).map(|_| self.deliver(delivery))).await;
        self.stage.clear(Point::BeforeClaim);
        answers
    }

    /// Wait until no event waits or runs.
    ///
    /// # Panics
    ///
    /// After 30 seconds, naming what is still there.
    pub async fn drained(&self) {
        self.drained_within(PATIENCE).await;
    }

    /// The same with another patience.
    ///
    /// # Panics
    ///
    /// After `patience`.
    pub async fn drained_within(&self, patience: Duration) {
        let began = Instant::now();
        loop {
            let mut open = self.found(Search::default().limit(10_000)).await;
            open.retain(|found| matches!(found.state, State::Pending | State::Processing));
            if open.is_empty() {
                return;
            }
            assert!(
                began.elapsed() < patience,
                "events still wait or run: {open:?}"
            );
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// Wait until a planned [`Act::Crash`](crate::Act::Crash) happened.
    ///
    /// # Panics
    ///
    /// After 30 seconds.
    pub async fn crashed(&self) {
        self.crashed_within(PATIENCE).await;
    }

    /// The same with another patience.
    ///
    /// # Panics
    ///
    /// After `patience`.
    pub async fn crashed_within(&self, patience: Duration) {
        let began = Instant::now();
        while !self.stage.is_crashed() {
            assert!(
                began.elapsed() < patience,
                "nothing crashed: {:?}",
                self.stage
            );
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// Where the event of this id stands, at any endpoint. `None` if it was never stored.
    ///
    /// # Panics
    ///
    /// If several endpoints have one.
    pub async fn state(&self, event_id: &str) -> Option<State> {
        let found = self.found(Search::default().event_id(event_id)).await;
        assert!(
            found.len() < 2,
            "several events are called {event_id}: {found:?}"
        );
        found.first().map(|found| found.state)
    }

    /// All events that it has stored, the first hundred.
    pub async fn events(&self) -> Vec<Found> {
        self.found(Search::default()).await
    }

    /// All deliveries in quarantine that nobody has decided on, the first hundred.
    pub async fn quarantined(&self) -> Vec<Quarantined> {
        self.webhooks
            .ledger()
            .quarantined(None, None, 100)
            .await
            .unwrap()
    }

    /// End this process, as a crash does if one was planned and happened, and start another on the same store.
    ///
    /// Leases of the old one run on, on the store's clock.
    pub async fn restart(&mut self) {
        self.webhooks.shutdown_within(Duration::ZERO).await;
        self.stage = Stage::default();
        self.webhooks = launch(&self.open, &self.mount, &self.clock, &self.stage).await;
    }

    /// Stop in order, as an application that is told to.
    pub async fn stop(self) {
        self.webhooks.shutdown().await;
    }

    async fn found(&self, what: Search) -> Vec<Found> {
        self.webhooks.ledger().find(what).await.unwrap()
    }

    fn endpoint_at(&self, path: &str) -> (EndpointHandle<Staged<L>>, Option<String>) {
        let mut endpoints: Vec<_> = self.webhooks.endpoints().collect();
        let fits = |endpoint: &EndpointHandle<_>| matches(endpoint.path(), path);
        if let Some((endpoint, tenant)) = endpoints
            .iter()
            .find_map(|endpoint| Some((endpoint.clone(), fits(endpoint)?)))
        {
            return (endpoint, tenant);
        }
        let only = endpoints.pop().filter(|_| endpoints.is_empty());
        let only = only.unwrap_or_else(|| panic!("no endpoint at {path}: set the delivery's path"));
        assert!(
            !only.path().contains('{'),
            "{path} names no tenant of {}",
            only.path()
        );
        (only, None)
    }
}

impl<L: Ledger> fmt::Debug for Harness<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness")
            .field("clock", &self.clock.now())
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

async fn launch<L: Ledger>(
    open: &Open<L>,
    mount: &Mount<L>,
    clock: &ManualClock,
    stage: &Stage,
) -> Webhooks<Staged<L>> {
    let ledger = Staged::new(open().await, stage.clone());
    let builder = Webhooks::builder(ledger).clock(clock.clone());
    let webhooks = mount(builder)
        .build()
        .unwrap_or_else(|fault| panic!("{fault}"));
    webhooks
        .start()
        .await
        .unwrap_or_else(|fault| panic!("{fault}"));
    webhooks
}

/// The tenant that `path` names, or none; `None` if it does not fit `pattern`.
#[expect(clippy::option_option, reason = "read once, by the next line")]
fn matches(pattern: &str, path: &str) -> Option<Option<String>> {
    let mut tenant = None;
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return Some(tenant),
            (Some("{tenant}"), Some(name)) if !name.is_empty() => tenant = Some(name.to_owned()),
            (Some(one), Some(other)) if one == other => {}
            _ => return None,
        }
    }
}
