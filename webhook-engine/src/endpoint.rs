//! One URL: provider, keys, limits and handlers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use webhook_core::{ClaimScope, DataMap, Handler, Provider, Redelivery, Window, WindowError};

use crate::backoff::Backoff;
use crate::built::Built;
use crate::config::ConfigError;
use crate::handlers::Handlers;
use crate::keys::{KeyStore, Keys};
use crate::policy::{OnFailure, QuarantinePolicy, Repeats, Unlisted};
use crate::retention;
use crate::telemetry::Meters;

/// An endpoint: where a provider's deliveries arrive, with what keys, and who handles them.
///
/// Its *name*, not its path, is the namespace of its claims: paths may move, names must not.
pub struct Endpoint<P, C> {
    path: String,
    provider: P,
    keys: Keys,
    name: Option<String>,
    handlers: Vec<Arc<dyn Handler<P, C>>>,
    settings: Settings,
}

#[derive(Debug, Clone, Default)]
struct Settings {
    window: Option<Window>,
    max_body_bytes: Option<usize>,
    body_timeout: Option<Duration>,
    acknowledge_within: Option<Duration>,
    inline_deadline: Option<Duration>,
    max_transaction: Option<Duration>,
    max_attempt: Option<Duration>,
    lease: Option<Duration>,
    concurrency: Option<u32>,
    max_failures: Option<u32>,
    max_crashes: Option<u32>,
    backoff: Option<(Duration, Duration)>,
    repeats: Option<Repeats>,
    on_failure: Option<OnFailure>,
    unlisted: Option<Unlisted>,
    quarantine: QuarantinePolicy,
    ordered_by: Option<Arc<[String]>>,
    identities: Option<Duration>,
    payloads: Option<(Duration, Duration)>,
    decisions: Option<Duration>,
    secret_is_shared: bool,
}

impl<P: Provider, C: Send + 'static> Endpoint<P, C> {
    /// An endpoint at `path`, named after its provider unless [`Endpoint::named`] says otherwise.
    ///
    /// `path` may hold one parameter, `{tenant}`, for a [`Keys::source`]; any other is a fault in `build()`.
    pub fn at(path: impl Into<String>, provider: P, keys: Keys) -> Self {
        Self {
            path: path.into(),
            provider,
            keys,
            name: None,
            handlers: Vec::new(),
            settings: Settings::default(),
        }
    }

    /// Its stable name: 1 to 64 of `a-z 0-9 _ -`. Claims are scoped to it; do not rename.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Let `handler` take the events it names. One that takes all others, too, is given those that no
    /// handler of the endpoint names.
    #[must_use]
    pub fn on(mut self, handler: impl Handler<P, C>) -> Self {
        self.handlers.push(Arc::new(handler));
        self
    }

    /// Another replay window than the provider's.
    ///
    /// # Errors
    ///
    /// See [`Window::new`].
    pub fn window(mut self, past: Duration, future: Duration) -> Result<Self, WindowError> {
        self.settings.window = Some(Window::new(past, future)?);
        Ok(self)
    }

    /// Another body cap than the provider's, in bytes.
    #[must_use]
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_body_bytes = Some(bytes);
        self
    }

    /// Longest time a body may take to arrive. Default: 10 s.
    #[must_use]
    pub fn body_timeout(mut self, limit: Duration) -> Self {
        self.settings.body_timeout = Some(limit);
        self
    }

    /// Longest time from the last byte to the answer in inbox mode. Default: 1.5 s.
    #[must_use]
    pub fn acknowledge_within(mut self, limit: Duration) -> Self {
        self.settings.acknowledge_within = Some(limit);
        self
    }

    /// Longest run of an inline handler, with its claim and from the last byte on. Default: 2 s; at most three
    /// quarters of the lease. Undoing it and leaving the event to the inbox may take `acknowledge_within` more.
    #[must_use]
    pub fn inline_deadline(mut self, limit: Duration) -> Self {
        self.settings.inline_deadline = Some(limit);
        self
    }

    /// Longest transaction of a worker's handler. Default: 5 s, or a third of a shorter lease; at most half of it.
    #[must_use]
    pub fn max_transaction(mut self, limit: Duration) -> Self {
        self.settings.max_transaction = Some(limit);
        self
    }

    /// Longest run of a handler. Default: 15 minutes. A handler that hangs, waiting for a peer without a
    /// timeout, is then a failed attempt, and its place is free again.
    #[must_use]
    pub fn max_attempt(mut self, limit: Duration) -> Self {
        self.settings.max_attempt = Some(limit);
        self
    }

    /// How long an event is held without a heartbeat, and so how soon a killed worker's events run
    /// again. Default: 30 s; 1 s to 1 h.
    #[must_use]
    pub fn lease(mut self, length: Duration) -> Self {
        self.settings.lease = Some(length);
        self
    }

    /// How many of its events run at once in this process. Default: 4.
    #[must_use]
    pub fn concurrency(mut self, handlers: u32) -> Self {
        self.settings.concurrency = Some(handlers);
        self
    }

    /// Attempts the handler may fail before the event is dead. Default: 10.
    #[must_use]
    pub fn max_failures(mut self, attempts: u32) -> Self {
        self.settings.max_failures = Some(attempts);
        self
    }

    /// Attempts whose lease may run out before the event is dead. Default: 20.
    #[must_use]
    pub fn max_crashes(mut self, attempts: u32) -> Self {
        self.settings.max_crashes = Some(attempts);
        self
    }

    /// First and longest pause between attempts; doubled in between, with jitter. Default: 1 s, 1 h. A
    /// handler that asks for a longer pause than the longest gets that.
    #[must_use]
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.settings.backoff = Some((first, longest));
        self
    }

    /// Say what equal bodies under new unsigned ids are, for types that may legitimately repeat.
    /// Required where such a type is handled.
    #[must_use]
    pub fn repeats(mut self, repeats: Repeats) -> Self {
        self.settings.repeats = Some(repeats);
        self
    }

    /// What happens when an inline handler fails. Default: [`OnFailure::Inbox`] for providers
    /// that never retry, [`OnFailure::Refuse`] for the others.
    #[must_use]
    pub fn on_inline_failure(mut self, what: OnFailure) -> Self {
        self.settings.on_failure = Some(what);
        self
    }

    /// What happens to events of types that no handler takes. Default: [`Unlisted::Store`] for
    /// providers that never retry, [`Unlisted::Acknowledge`] for the others.
    #[must_use]
    pub fn unlisted(mut self, what: Unlisted) -> Self {
        self.settings.unlisted = Some(what);
        self
    }

    /// Let events with one value at this path of member names, such as `["data", "object", "id"]`,
    /// run one at a time, in the order in which they were stored. A dead event does not hold up the
    /// ones behind it. Only in inbox mode.
    #[must_use]
    pub fn ordered_by<S: Into<String>>(mut self, path: impl IntoIterator<Item = S>) -> Self {
        self.settings.ordered_by = Some(path.into_iter().map(Into::into).collect());
        self
    }

    /// What is kept of deliveries in quarantine, and how they are answered. Default:
    /// [`QuarantinePolicy::keep`].
    #[must_use]
    pub fn quarantine(mut self, policy: QuarantinePolicy) -> Self {
        self.settings.quarantine = policy;
        self
    }

    /// How long identities of completed events are remembered, counted from when they were last seen.
    /// Default: longer than the provider can present them again; for ever where that is not known.
    #[must_use]
    pub fn remember_identities_for(mut self, length: Duration) -> Self {
        self.settings.identities = Some(length);
        self
    }

    /// How long payloads are kept: of completed events; and of dead, ignored, and released or
    /// discarded ones. Quarantine that nobody has decided on stays.
    /// Default: 7 and 30 days.
    #[must_use]
    pub fn keep_payloads_for(mut self, completed: Duration, others: Duration) -> Self {
        self.settings.payloads = Some((completed, others));
        self
    }

    /// How long released and discarded quarantine is remembered at least, with who decided and when.
    /// Default: 90 days. Longer where the identity is: what was decided on is not asked again while its
    /// provider, or whoever captured it, can present it.
    #[must_use]
    pub fn remember_decisions_for(mut self, length: Duration) -> Self {
        self.settings.decisions = Some(length);
        self
    }

    /// Other endpoints use the same secret. A request captured at one of them verifies at the others;
    /// without this word `build()` refuses it.
    #[must_use]
    pub fn shared_secret(mut self) -> Self {
        self.settings.secret_is_shared = true;
        self
    }

    pub(crate) fn build(self, data: &DataMap) -> Result<Built<C>, ConfigError> {
        let Self {
            path,
            provider,
            keys,
            name,
            handlers,
            settings,
        } = self;
        let spec = Provider::spec(&provider).clone();
        let name: Arc<str> = name.unwrap_or_else(|| spec.name().to_owned()).into();
        let fault = |what: String| ConfigError::endpoint(&name, what);
        if !is_name(&name) {
            return Err(fault(
                "a name is 1 to 64 of a-z, 0-9, `_` and `-`".to_owned(),
            ));
        }
        let handlers = Handlers::of(handlers, &spec, settings.repeats, data).map_err(&fault)?;
        if settings.ordered_by.is_some() && handlers.any_inline() {
            return Err(fault(
                "`ordered_by` orders what workers run: its handlers cannot be `inline`".to_owned(),
            ));
        }
        let keys = keys
            .load(&name, spec.secret())
            .map_err(|error| fault(error.to_string()))?;
        if let Some(what) = path_fault(&path, &keys) {
            return Err(fault(what));
        }
        let lease = settings.lease.unwrap_or(Duration::from_secs(30));
        let max_transaction = settings
            .max_transaction
            .unwrap_or(Duration::from_secs(5).min(lease.div_f64(3.0)));
        let (first, longest) = settings
            .backoff
            .unwrap_or((Duration::from_secs(1), Duration::from_hours(1)));
        let window = settings
            .window
            .or(spec.window())
            .unwrap_or(Window::FIVE_MINUTES);
        let (completed_payloads, other_payloads) = settings
            .payloads
            .unwrap_or((Duration::from_hours(7 * 24), Duration::from_hours(30 * 24)));
        let by_tenant = matches!(keys, KeyStore::Source(_));
        let is_ordered = settings.ordered_by.is_some();
        let built = Built {
            meters: Meters::new(name.clone(), spec.name(), by_tenant),
            scope: ClaimScope::new(name.clone())
                .repeats_run(settings.repeats == Some(Repeats::Run))
                .secret_is_shared(settings.secret_is_shared)
                .ordered_by(settings.ordered_by)
                .quarantine_bytes(settings.quarantine.most_bytes()),
            secret_is_shared: settings.secret_is_shared,
            is_ordered,
            window,
            max_body_bytes: settings.max_body_bytes.unwrap_or(spec.body_cap()),
            body_timeout: settings.body_timeout.unwrap_or(Duration::from_secs(10)),
            acknowledge_within: settings
                .acknowledge_within
                .unwrap_or(Duration::from_millis(1500)),
            inline_deadline: settings.inline_deadline.unwrap_or(Duration::from_secs(2)),
            max_transaction,
            max_attempt: settings.max_attempt.unwrap_or(Duration::from_mins(15)),
            lease,
            concurrency: settings.concurrency.unwrap_or(4),
            max_failures: settings.max_failures.unwrap_or(10),
            max_crashes: settings.max_crashes.unwrap_or(20),
            backoff: Backoff { first, longest },
            on_failure: settings.on_failure.unwrap_or(match spec.automatic() {
                Redelivery::Never => OnFailure::Inbox,
                _ => OnFailure::Refuse,
            }),
            unlisted: settings.unlisted.unwrap_or(match spec.automatic() {
                Redelivery::Never => Unlisted::Store,
                _ => Unlisted::Acknowledge,
            }),
            identities: retention::of(&spec, window, settings.identities).map_err(fault)?,
            quarantine: settings.quarantine,
            completed_payloads,
            other_payloads,
            decisions: settings.decisions.unwrap_or(Duration::from_hours(90 * 24)),
            handlers,
            provider: Arc::new(provider),
            keys,
            path,
            name: name.clone(),
        };
        built
            .check_bounds()
            .map_err(|what| fault(what.to_owned()))?;
        Ok(built)
    }
}

impl<P: fmt::Debug, C> fmt::Debug for Endpoint<P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("path", &self.path)
            .field("provider", &self.provider)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// What is wrong with `path` for an endpoint with `keys`.
fn path_fault(path: &str, keys: &KeyStore) -> Option<String> {
    let names_tenant = path.contains(TENANT);
    if !path.starts_with('/') {
        return Some(format!("path `{path}` does not begin with `/`"));
    }
    if path.replacen(TENANT, "", 1).contains(['{', '}']) {
        return Some(format!(
            "path `{path}`: the only parameter is `{TENANT}`, once"
        ));
    }
    let what = match keys {
        KeyStore::Source(lookup) if names_tenant && lookup.reads_header() => {
            "the path and a header both name the tenant: leave one out"
        }
        KeyStore::Listed(_) if names_tenant => {
            "`{tenant}` chooses among the keys of a `Keys::source`: these have no tenants"
        }
        _ => return None,
    };
    Some(what.to_owned())
}

/// Stands in a path for the tenant's name.
const TENANT: &str = "{tenant}";
