//! A source of tenants' keys behind a bounded cache.
//!
//! Asked before authentication, by strangers. So a name is looked up by one task at a time, however many
//! ask; few names at once; what is known is kept apart from what is not; and tenants that are known get
//! places of their own for their renewal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::Instant;
use webhook_core::bounds::MAX_ID_BYTES;
use webhook_core::{BoxFuture, Head, KeyFault, KeyQuery, KeySource, Keyring};

use super::recent::Recent;
use super::{Cause, Lookups};
use crate::telemetry;

/// A source and what is known of it.
#[derive(Debug)]
pub(crate) struct Lookup {
    endpoint: Arc<str>,
    source: Arc<dyn KeySource>,
    header: Option<String>,
    bounds: Lookups,
    state: Mutex<State>,
    /// Places for look-ups of names that are not known to be tenants.
    strangers: Semaphore,
    /// Places for asking again about known ones.
    known: Semaphore,
}

#[derive(Debug)]
struct State {
    known: Recent<Known>,
    refused: Recent<Refused>,
    flights: HashMap<Arc<str>, Flight>,
}

#[derive(Debug)]
struct Known {
    ring: Arc<Keyring>,
    /// The source's last answer.
    asked: Instant,
    /// When to ask again.
    again: Instant,
}

#[derive(Debug)]
struct Refused {
    fault: KeyFault,
    until: Instant,
}

type Answer = Result<Arc<Keyring>, KeyFault>;
type Flight = Shared<BoxFuture<'static, Answer>>;
type Departure = (Flight, Option<(Landing, bool)>);

/// Lands a flight even if its task panics or is dropped.
struct Landing {
    lookup: Arc<Lookup>,
    name: Arc<str>,
    waiting: Option<oneshot::Sender<Answer>>,
}

/// Pause before an unavailable source is asked about the same name again: without keys, and with the last
/// good ones.
const FAULT_PAUSE: Duration = Duration::from_secs(1);
const LAST_GOOD_PAUSE: Duration = Duration::from_secs(5);
/// Longer is for ever, and cannot overflow.
const LONGEST: Duration = Duration::from_hours(24 * 365);
/// Look-ups under way or waiting for a place, for each place; beyond it the answer is 503 at once.
const QUEUE: usize = 32;
/// Stands for the endpoint's only keyring, where no tenant is named.
const NO_TENANT: &str = "";
/// Stands before the URL of a certificate. No tenant's name holds a control character.
const CERTIFICATE: &str = "certificate\n";

impl Lookup {
    pub(super) fn new(
        endpoint: &str,
        source: Arc<dyn KeySource>,
        header: Option<String>,
        bounds: Lookups,
    ) -> Result<Self, Cause> {
        if bounds.tenants == 0 || bounds.at_once == 0 || bounds.timeout.is_zero() {
            return Err(Cause::Zero);
        }
        let header = header.map(|name| name.to_ascii_lowercase());
        if let Some(name) = header.as_ref().filter(|name| !is_header_name(name)) {
            return Err(Cause::NoHeader(name.clone()));
        }
        Ok(Self {
            endpoint: endpoint.into(),
            source,
            header,
            bounds,
            state: Mutex::new(State {
                known: Recent::new(bounds.tenants),
                refused: Recent::new(bounds.tenants),
                flights: HashMap::new(),
            }),
            strangers: Semaphore::new(bounds.at_once),
            known: Semaphore::new(bounds.at_once),
        })
    }

    /// Whether a header names the tenant, and not the path.
    pub(crate) fn reads_header(&self) -> bool {
        self.header.is_some()
    }

    /// The keys for a request with this head, whose path names `tenant`.
    pub(crate) async fn keys(self: &Arc<Self>, head: &Head<'_>, tenant: Option<&str>) -> Answer {
        let tenant = match &self.header {
            Some(header) => Some(only(head, header).ok_or(KeyFault::Unknown)?),
            None => tenant,
        };
        self.find(tenant).await
    }

    /// The keys of the certificate at this URL, which a request names.
    pub(crate) async fn certificate(self: &Arc<Self>, url: &str) -> Answer {
        if !is_tenant(url) {
            return Err(KeyFault::Unknown);
        }
        self.look_up(&format!("{CERTIFICATE}{url}")).await
    }

    async fn find(self: &Arc<Self>, tenant: Option<&str>) -> Answer {
        if !tenant.is_none_or(is_tenant) {
            return Err(KeyFault::Unknown);
        }
        self.look_up(tenant.unwrap_or(NO_TENANT)).await
    }

    async fn look_up(self: &Arc<Self>, name: &str) -> Answer {
        let (flight, landing) = {
            let mut state = self.state();
            if let Some(answer) = state.remembered(name, Instant::now()) {
                return answer;
            }
            match state.flights.get(name) {
                Some(flight) => (flight.clone(), None),
                None => self.take_off(&mut state, name)?,
            }
        };
        // Not under the lock: a runtime that goes down drops the task at once, which lands it.
        if let Some((landing, is_known)) = landing {
            tokio::spawn(landing.fly(is_known));
        }
        flight.await
    }

    /// A flight, and what flies it. Whether the name is a known tenant's goes with it.
    fn take_off(self: &Arc<Self>, state: &mut State, name: &str) -> Result<Departure, KeyFault> {
        let is_known = state.known.get(name).is_some();
        if !is_known && state.flights.len() >= self.bounds.at_once.saturating_mul(QUEUE) {
            telemetry::key_lookup(&self.endpoint, "overloaded");
            return Err(KeyFault::Unavailable);
        }
        let name: Arc<str> = name.into();
        let (waiting, answer) = oneshot::channel();
        let landing = Landing {
            lookup: self.clone(),
            name: name.clone(),
            waiting: Some(waiting),
        };
        let flight = answer
            .map(|answer| answer.unwrap_or(Err(KeyFault::Unavailable)))
            .boxed()
            .shared();
        state.flights.insert(name, flight.clone());
        Ok((flight, Some((landing, is_known))))
    }

    async fn ask(&self, name: &str, is_known: bool) -> Answer {
        let places = if is_known {
            &self.known
        } else {
            &self.strangers
        };
        let certificate = name.strip_prefix(CERTIFICATE);
        let tenant = (certificate.is_none() && name != NO_TENANT).then_some(name);
        let query = certificate.map_or(KeyQuery::new(tenant), KeyQuery::certificate);
        let asked = async {
            let _place = places.acquire().await.map_err(|_| KeyFault::Unavailable)?;
            self.source.keys(query).await
        };
        let ring = tokio::time::timeout(self.bounds.timeout, asked)
            .await
            .unwrap_or(Err(KeyFault::Unavailable))?;
        Ok(match tenant {
            // Authority comes with the key, whatever the source forgot to say.
            Some(tenant) if ring.tenant().is_none() => {
                Arc::new(Keyring::clone(&ring).principal(tenant))
            }
            _ => ring,
        })
    }

    /// Remember an answer. What those who wait for it get.
    fn settle(&self, name: &Arc<str>, answer: Answer) -> Answer {
        let now = Instant::now();
        let mut state = self.state();
        state.flights.remove(name);
        match answer {
            Ok(ring) => {
                telemetry::key_lookup(&self.endpoint, "found");
                state.refused.remove(name);
                let known = Known {
                    ring: ring.clone(),
                    asked: now,
                    again: after(now, self.bounds.fresh),
                };
                state.known.insert(name.clone(), known);
                Ok(ring)
            }
            Err(KeyFault::Unknown) => {
                telemetry::key_lookup(&self.endpoint, "unknown");
                state.known.remove(name);
                state.refuse(name, KeyFault::Unknown, after(now, self.bounds.unknown))
            }
            Err(_) => {
                let last_good = self.bounds.last_good;
                if let Some(known) = state.known.get(name)
                    && now.duration_since(known.asked) < last_good
                {
                    telemetry::key_lookup(&self.endpoint, "last_good");
                    known.again = after(now, LAST_GOOD_PAUSE).min(after(known.asked, last_good));
                    return Ok(known.ring.clone());
                }
                telemetry::key_lookup(&self.endpoint, "unavailable");
                state.known.remove(name);
                state.refuse(name, KeyFault::Unavailable, after(now, FAULT_PAUSE))
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remembered(&mut self, name: &str, now: Instant) -> Option<Answer> {
        if let Some(known) = self.known.get(name) {
            return (now < known.again).then(|| Ok(known.ring.clone()));
        }
        let refused = self.refused.get(name)?;
        (now < refused.until).then_some(Err(refused.fault))
    }

    fn refuse(&mut self, name: &Arc<str>, fault: KeyFault, until: Instant) -> Answer {
        self.refused.insert(name.clone(), Refused { fault, until });
        Err(fault)
    }
}

impl Landing {
    /// Ask the source, in a task of its own: whoever waits may hang up, the look-up ends all the same, and its
    /// place is taken until then.
    async fn fly(mut self, is_known: bool) {
        let answer = self.lookup.ask(&self.name, is_known).await;
        self.land(answer);
    }

    fn land(&mut self, answer: Answer) {
        if let Some(waiting) = self.waiting.take() {
            // Whoever waited may be gone.
            let _ = waiting.send(self.lookup.settle(&self.name, answer));
        }
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.land(Err(KeyFault::Unavailable));
    }
}

/// `then` after `now`.
fn after(now: Instant, then: Duration) -> Instant {
    now.checked_add(then.min(LONGEST)).unwrap_or(now)
}

/// The one value of a header.
fn only<'h>(head: &Head<'h>, name: &str) -> Option<&'h str> {
    let mut values = head.all(name);
    let value = std::str::from_utf8(values.next()?).ok()?;
    values.next().is_none().then_some(value)
}

fn is_tenant(name: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// A token of RFC 9110, section 5.6.2, in lower case.
fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

#[cfg(test)]
mod tests;
