//! The engine as an actix service.

use std::fmt;
use std::time::Duration;

use actix_web::dev::Server;
use webhook_core::ledger::Ledger;
use webhook_core::{Clock, Provider};
use webhook_engine::{ConfigError, Endpoint, KeysError, Operator, Report, StartError};

/// The endpoints of one process on one ledger. Cheap to clone; all clones are one engine.
///
/// `build()` it once, `start()` it once, give a clone to each `App` as a service, and let
/// [`Webhooks::serve`] run the server so that shutdown happens in order.
pub struct Webhooks<L: Ledger>(webhook_engine::Webhooks<L>);

/// Collects endpoints, shared data and limits.
#[derive(Debug)]
#[must_use]
pub struct Builder<L: Ledger>(webhook_engine::Builder<L>);

impl<L: Ledger> Webhooks<L> {
    /// Collect endpoints for an engine on `ledger`.
    pub fn builder(ledger: L) -> Builder<L> {
        Builder(webhook_engine::Webhooks::builder(ledger))
    }

    /// Prepare the store and start the workers, once a process. Until then every delivery is
    /// answered 503.
    ///
    /// # Errors
    ///
    /// A store that is unreachable or unfit; a second start.
    pub async fn start(&self) -> Result<(), StartError> {
        self.0.start().await
    }

    /// Run `server` until it stops, then shut the engine down.
    ///
    /// # Errors
    ///
    /// The server's.
    pub async fn serve(&self, server: Server) -> std::io::Result<()> {
        self.0.serve(server).await
    }

    /// Accept nothing more, answer what is in flight, give running handlers 10 seconds, hand the
    /// others back uncounted, close the ledger. Call it after the server has stopped.
    pub async fn shutdown(&self) {
        self.0.shutdown().await;
    }

    /// The same with another grace period.
    pub async fn shutdown_within(&self, grace: Duration) {
        self.0.shutdown_within(grace).await;
    }

    /// Read mounted keys again, now, and use what stands there: whoever calls says that it is whole. For
    /// a signal handler; without it the files are read every two seconds.
    ///
    /// # Errors
    ///
    /// The first endpoint's whose keys cannot be used. Its last good ones stay in use.
    pub async fn reload_keys(&self) -> Result<(), KeysError> {
        self.0.reload_keys().await
    }

    /// Look at the store as `start()` does, for a readiness probe.
    pub async fn doctor(&self) -> Report {
        self.0.doctor().await
    }

    /// Act as an operator: quarantine, dead letters, replay. `actor` is recorded with every decision.
    pub fn operator(&self, actor: impl Into<String>) -> Operator<'_, L> {
        self.0.operator(actor)
    }

    /// The ledger.
    pub fn ledger(&self) -> &L {
        self.0.ledger()
    }

    pub(crate) fn engine(&self) -> &webhook_engine::Webhooks<L> {
        &self.0
    }
}

impl<L: Ledger> Builder<L> {
    /// Serve an endpoint.
    pub fn endpoint<P: Provider>(self, endpoint: Endpoint<P, L::Conn>) -> Self {
        Self(self.0.endpoint(endpoint))
    }

    /// Share a value with handlers that take `Data<T>`.
    pub fn data<T: Send + Sync + 'static>(self, value: T) -> Self {
        Self(self.0.data(value))
    }

    /// Judge freshness and key retirement by this clock. Default: the system's.
    pub fn clock(self, clock: impl Clock) -> Self {
        Self(self.0.clock(clock))
    }

    /// Bytes of unauthenticated bodies the process holds at once. Default: 128 MiB.
    pub fn unauthenticated_bytes(self, bytes: usize) -> Self {
        Self(self.0.unauthenticated_bytes(bytes))
    }

    /// Check everything. Pure: nothing is started, opened or written.
    ///
    /// # Errors
    ///
    /// The first configuration fault, with the name of the endpoint, handler or setting.
    pub fn build(self) -> Result<Webhooks<L>, ConfigError> {
        self.0.build().map(Webhooks)
    }
}

/// An engine that was built without this crate, as a test kit's, served on actix.
impl<L: Ledger> From<webhook_engine::Webhooks<L>> for Webhooks<L> {
    fn from(engine: webhook_engine::Webhooks<L>) -> Self {
        Self(engine)
    }
}

/// For functions that add an application's endpoints to a builder of this crate's.
impl<L: Ledger> From<webhook_engine::Builder<L>> for Builder<L> {
    fn from(engine: webhook_engine::Builder<L>) -> Self {
        Self(engine)
    }
}

/// And back.
impl<L: Ledger> From<Builder<L>> for webhook_engine::Builder<L> {
    fn from(builder: Builder<L>) -> Self {
        builder.0
    }
}

impl<L: Ledger> Clone for Webhooks<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<L: Ledger> fmt::Debug for Webhooks<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
