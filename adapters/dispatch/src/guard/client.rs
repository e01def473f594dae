//! The client.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;

use super::answer::{Answer, Times};
use super::connection::{Connection, Exchange};
use super::dial::dial;
use super::error::{Phase, SendError};
use super::policy::{Checked, Policy, Refused};
use super::pool::{IdleLimits, Key, Pool};
use super::proxy::EgressProxy;
use super::request::GuardedRequest;
use super::resolve::{Dns, DnsSetupError, Resolve, ResolveFault};
use super::target::Target;
use super::tls::{NotAnAuthority, Tls};

/// An HTTP client for URLs that strangers choose.
///
/// Cheap to clone; make one per process. Needs a tokio runtime with I/O and time.
#[derive(Clone)]
pub struct GuardedClient(Arc<Shared>);

impl GuardedClient {
    /// A client with a [strict](Policy::strict) policy unless told otherwise.
    pub fn builder() -> GuardedClientBuilder {
        GuardedClientBuilder::default()
    }

    /// Check what can be known of `target` without DNS: the first look, when an endpoint is saved.
    ///
    /// # Errors
    ///
    /// Says which rule refuses it.
    pub fn admit(&self, target: &Target) -> Result<(), Refused> {
        self.0.policy().admit(target)
    }

    /// Check all that can be known of `target` without connecting: as `send` would judge it now. No
    /// promise for later, since names change; `send` judges again.
    ///
    /// # Errors
    ///
    /// As [`Self::send`] up to the connection.
    pub async fn preflight(&self, target: &Target) -> Result<(), SendError> {
        let policy = self.0.policy();
        policy.admit(target)?;
        let resolve = self.0.resolve(target, &policy);
        let resolved = tokio::time::timeout(self.0.deadline, resolve).await;
        resolved.map_err(|_| SendError::TimedOut(Phase::Resolve))??;
        Ok(())
    }

    /// Send `request` and read its answer, all within the deadline.
    ///
    /// `sign` makes the headers that depend on the time. It is called when the connection is held, right
    /// before the request is written, so that no slow connection makes a signature stale; and once more in
    /// the one case that a kept connection proves dead before a byte of an answer was read, when the
    /// request is sent again on a fresh one. So a receiver can, rarely, get a request twice: give it an id.
    ///
    /// The future may be dropped at any time, and takes its connection with it.
    ///
    /// # Errors
    ///
    /// If there is no complete head of an answer in time, or no end of its body.
    pub async fn send(
        &self,
        request: &GuardedRequest,
        sign: impl FnMut() -> HeaderMap,
    ) -> Result<Answer, SendError> {
        let mut progress = Progress::start();
        let exchange = self.0.send(request, sign, &mut progress);
        match tokio::time::timeout(self.0.deadline, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(SendError::TimedOut(progress.phase)),
        }
    }

    /// Replace the policy for all clones, from the next request on. Connections kept under the old one are
    /// dropped; requests under way end under the policy they began with.
    pub fn set_policy(&self, policy: Policy) {
        let mut current = self
            .0
            .policy
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(policy);
        // Inside the lock, so that no request pairs the old policy with the new epoch.
        let epoch = self.0.epoch.fetch_add(1, Relaxed).saturating_add(1);
        drop(current);
        self.0.pool.forget_before(epoch);
    }

    /// The most that a request may take, whole.
    pub fn deadline(&self) -> Duration {
        self.0.deadline
    }

    /// Connections kept for later requests.
    pub fn idle_connections(&self) -> usize {
        self.0.pool.len()
    }
}

impl fmt::Debug for GuardedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedClient")
            .field("policy", &self.0.policy())
            .field("deadline", &self.0.deadline)
            .field("pool", &self.0.pool)
            .finish_non_exhaustive()
    }
}

/// Sets up a [`GuardedClient`].
#[derive(Debug, Default)]
pub struct GuardedClientBuilder {
    policy: Policy,
    resolver: Option<Arc<dyn Resolve>>,
    roots: Vec<Vec<u8>>,
    deadline: Option<Duration>,
    idle: IdleLimits,
    proxy: Option<EgressProxy>,
}

impl GuardedClientBuilder {
    /// What may be sent where.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Resolve names by this, instead of [`Dns::system`].
    #[must_use]
    pub fn resolver(mut self, resolver: impl Resolve) -> Self {
        self.resolver = Some(Arc::new(resolver));
        self
    }

    /// Trust certificates of this authority too, given in DER, for any name.
    #[must_use]
    pub fn trust(mut self, authority_der: impl Into<Vec<u8>>) -> Self {
        self.roots.push(authority_der.into());
        self
    }

    /// How long a request may take from the call of `send` to the end of the answer: DNS, connection, TLS,
    /// head and body. 5 s unless set; from 1 ms to 30 s.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// How many connections are kept for later requests.
    #[must_use]
    pub fn idle(mut self, limits: IdleLimits) -> Self {
        self.idle = limits;
        self
    }

    /// Send everything through this proxy. Those of the environment are never used.
    #[must_use]
    pub fn egress_proxy(mut self, proxy: EgressProxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// The client.
    ///
    /// # Errors
    ///
    /// If the system's name servers, a certificate or the deadline cannot be used.
    pub fn build(self) -> Result<GuardedClient, SetupError> {
        let deadline = self.deadline.unwrap_or(DEADLINE);
        if !(SHORTEST_DEADLINE..=LONGEST_DEADLINE).contains(&deadline) {
            return Err(SetupError::Deadline);
        }
        let resolver = match self.resolver {
            Some(resolver) => resolver,
            None => Arc::new(Dns::system()?),
        };
        Ok(GuardedClient(Arc::new(Shared {
            policy: RwLock::new(Arc::new(self.policy)),
            epoch: AtomicU64::new(0),
            resolver,
            tls: Tls::new(&self.roots)?,
            pool: Pool::new(self.idle),
            proxy: self.proxy,
            deadline,
        })))
    }
}

/// Why a client cannot be set up.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// An authority's certificate.
    #[error(transparent)]
    Authority(#[from] NotAnAuthority),
    /// Shorter than 1 ms or longer than 30 s.
    #[error("the deadline is not between 1 ms and 30 s")]
    Deadline,
    /// The name servers.
    #[error(transparent)]
    Dns(#[from] DnsSetupError),
}

struct Shared {
    policy: RwLock<Arc<Policy>>,
    /// Grows with every change of the policy.
    epoch: AtomicU64,
    resolver: Arc<dyn Resolve>,
    tls: Tls,
    pool: Arc<Pool>,
    proxy: Option<EgressProxy>,
    deadline: Duration,
}

impl Shared {
    async fn send(
        &self,
        request: &GuardedRequest,
        mut sign: impl FnMut() -> HeaderMap,
        progress: &mut Progress,
    ) -> Result<Answer, SendError> {
        let target = request.target();
        let (policy, epoch) = self.policy_and_epoch();
        policy.admit(target)?;
        let key = Key {
            origin: Arc::clone(target.origin()),
            epoch,
        };
        let mut is_reused = true;
        if let Some(mut connection) = self.kept(&key, target, &policy).await {
            match exchange(&mut connection, request, &mut sign, progress).await {
                Ok(exchange) => {
                    return Ok(self.finish(key, connection, exchange, progress, is_reused));
                }
                // The receiver closed it while it was idle, and our request met that on the way.
                Err(SendError::Closed) if connection.heard_nothing() => {}
                Err(error) => return Err(error),
            }
        }
        is_reused = false;
        let mut connection = match self.connect(target, &policy, progress).await {
            // The first request may have arrived, so do not say that none did.
            Err(_) if progress.was_sent => return Err(SendError::Closed),
            connection => connection?,
        };
        let exchange = exchange(&mut connection, request, &mut sign, progress).await?;
        Ok(self.finish(key, connection, exchange, progress, is_reused))
    }

    /// A kept connection that is alive, and whose address the policy still admits.
    async fn kept(&self, key: &Key, target: &Target, policy: &Policy) -> Option<Box<Connection>> {
        while let Some(mut connection) = self.pool.take(key) {
            let address = connection.checked().address().ip();
            if policy.check(target, address).is_ok() && connection.is_ready().await {
                return Some(connection);
            }
        }
        None
    }

    async fn connect(
        &self,
        target: &Target,
        policy: &Policy,
        progress: &mut Progress,
    ) -> Result<Box<Connection>, SendError> {
        progress.enter(Phase::Resolve);
        let addresses = self.resolve(target, policy).await?;
        progress.times.resolved = Some(progress.elapsed());
        progress.enter(Phase::Connect);
        let (stream, checked) = dial(addresses, self.proxy.as_ref())
            .await
            .map_err(|error| SendError::Unreachable(error.kind()))?;
        progress.times.connected = Some(progress.elapsed());
        progress.enter(Phase::Tls);
        let secured = || progress.times.secured = Some(progress.started.elapsed());
        Connection::open(stream, checked, target, &self.tls, secured).await
    }

    /// The addresses of `target`, all of them judged.
    async fn resolve(&self, target: &Target, policy: &Policy) -> Result<Vec<Checked>, SendError> {
        let addresses: Vec<IpAddr> = match target.fixed_address() {
            Some(address) => vec![address],
            None => self.resolver.resolve(target.host()).await?,
        };
        if addresses.is_empty() {
            return Err(ResolveFault::NoAddress.into());
        }
        Ok(policy.check_all(target, &addresses)?)
    }

    fn finish(
        &self,
        key: Key,
        connection: Box<Connection>,
        exchange: Exchange,
        progress: &Progress,
        is_reused: bool,
    ) -> Answer {
        let checked = connection.checked();
        if exchange.is_reusable {
            self.pool.put(key, connection);
        }
        Answer {
            status: exchange.head.status,
            headers: exchange.head.headers,
            body: exchange.body,
            body_end: exchange.body_end,
            address: checked.address(),
            passage: checked.passage(),
            is_reused,
            times: Times {
                answered: exchange.answered.duration_since(progress.started),
                finished: progress.elapsed(),
                ..progress.times
            },
        }
    }

    fn policy(&self) -> Arc<Policy> {
        self.policy_and_epoch().0
    }

    fn policy_and_epoch(&self) -> (Arc<Policy>, u64) {
        let policy = self.policy.read().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&policy), self.epoch.load(Relaxed))
    }
}

async fn exchange(
    connection: &mut Connection,
    request: &GuardedRequest,
    sign: &mut impl FnMut() -> HeaderMap,
    progress: &mut Progress,
) -> Result<Exchange, SendError> {
    let message = request.message(sign())?;
    progress.enter(Phase::Answer);
    progress.was_sent = true;
    connection
        .exchange(message, || progress.phase = Phase::Body)
        .await
}

/// How far a request has got, for whom only the clock is left to ask.
struct Progress {
    started: Instant,
    phase: Phase,
    /// Whether the request, or a part of it, was given to a connection.
    was_sent: bool,
    times: Times,
}

impl Progress {
    fn start() -> Self {
        Self {
            started: Instant::now(),
            phase: Phase::Resolve,
            was_sent: false,
            times: Times::default(),
        }
    }

    /// Never back to before the request was sent.
    fn enter(&mut self, phase: Phase) {
        if !self.was_sent {
            self.phase = phase;
        }
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The whole of a request.
const DEADLINE: Duration = Duration::from_secs(5);
const SHORTEST_DEADLINE: Duration = Duration::from_millis(1);
const LONGEST_DEADLINE: Duration = Duration::from_secs(30);
