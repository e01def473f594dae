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

use super::Cause;
use super::recent::Recent;
use crate::telemetry;

/// Bounds of looking up tenants' keys.
///
/// | what | default |
/// | --- | --- |
/// | keys are used without asking again | 60 s |
/// | after that, while the source is unavailable | until 10 min after the last good answer |
/// | an unknown tenant is not asked for again | 5 s |
/// | tenants remembered | 10 000, the ones used last; as many unknown names, apart |
/// | look-ups at once | 8 of strangers, 8 of known tenants |
/// | a look-up may take, with waiting for its place | 1 s, then 503 |
///
/// So a tenant's new key is to be in the source a minute before anything is signed with it, and one that is taken
/// out may verify for a minute more.
#[derive(Debug, Clone, Copy)]
pub struct Lookups {
    fresh: Duration,
    last_good: Duration,
    unknown: Duration,
    tenants: usize,
    at_once: usize,
    timeout: Duration,
}

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

impl Lookups {
    /// Use keys for this long without asking again.
    #[must_use]
    pub fn remember_for(mut self, length: Duration) -> Self {
        self.fresh = length;
        self
    }

    /// While the source is unavailable, use the last good keys for this long, counted from its last answer.
    #[must_use]
    pub fn last_good_for(mut self, length: Duration) -> Self {
        self.last_good = length;
        self
    }

    /// Refuse an unknown tenant for this long without asking again: a tenant that is entered then waits for it.
    #[must_use]
    pub fn unknown_for(mut self, length: Duration) -> Self {
        self.unknown = length;
        self
    }

    /// Remember so many tenants. Give it more than there are, or they push each other out.
    #[must_use]
    pub fn tenants(mut self, most: usize) -> Self {
        self.tenants = most;
        self
    }

    /// Run so many look-ups of strangers at once, and as many of tenants whose keys are known.
    #[must_use]
    pub fn at_once(mut self, most: usize) -> Self {
        self.at_once = most;
        self
    }

    /// Give a look-up this long, with waiting for its place.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }
}

impl Default for Lookups {
    fn default() -> Self {
        Self {
            fresh: Duration::from_mins(1),
            last_good: Duration::from_mins(10),
            unknown: Duration::from_secs(5),
            tenants: 10_000,
            at_once: 8,
            timeout: Duration::from_secs(1),
        }
    }
}

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
        let half = bounds.tenants.div_ceil(2);
        Ok(Self {
            endpoint: endpoint.into(),
            source,
            header,
            bounds,
            state: Mutex::new(State {
                known: Recent::new(half),
                refused: Recent::new(half),
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

    async fn find(self: &Arc<Self>, tenant: Option<&str>) -> Answer {
        if !tenant.is_none_or(is_tenant) {
            return Err(KeyFault::Unknown);
        }
        let name = tenant.unwrap_or(NO_TENANT);
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
        let tenant = (name != NO_TENANT).then_some(name);
        let asked = async {
            let _place = places.acquire().await.map_err(|_| KeyFault::Unavailable)?;
            self.source.keys(KeyQuery::new(tenant)).await
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
                if let Some(known) = state.known.get(name) {
                    if now.duration_since(known.asked) < last_good {
                        telemetry::key_lookup(&self.endpoint, "last_good");
                        known.again = after(now, LAST_GOOD_PAUSE);
                        return Ok(known.ring.clone());
                    }
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
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use webhook_core::{KeyConfig, SecretFormat};

    use super::*;

    /// `t...` are tenants. Counts how often it is asked, and how often at once.
    #[derive(Debug, Default)]
    struct Asked {
        times: AtomicUsize,
        now: AtomicUsize,
        most: AtomicUsize,
        down: AtomicUsize,
    }

    #[derive(Debug, Clone, Default)]
    struct Tenants(Arc<Asked>);

    const UP: usize = 0;
    const DOWN: usize = 1;
    const PANICS: usize = 2;
    const HANGS: usize = 3;
    /// How long the source takes.
    const TAKES: Duration = Duration::from_millis(10);

    impl KeySource for Tenants {
        fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Answer> {
            Box::pin(async move {
                let asked = &self.0;
                asked.times.fetch_add(1, Ordering::SeqCst);
                let now = asked.now.fetch_add(1, Ordering::SeqCst) + 1;
                asked.most.fetch_max(now, Ordering::SeqCst);
                tokio::time::sleep(TAKES).await;
                asked.now.fetch_sub(1, Ordering::SeqCst);
                match asked.down.load(Ordering::SeqCst) {
                    DOWN => return Err(KeyFault::Unavailable),
                    PANICS => panic!("the source panics"),
                    HANGS => std::future::pending().await,
                    _ => {}
                }
                let name = query.tenant.unwrap_or("t-only");
                if !name.starts_with('t') {
                    return Err(KeyFault::Unknown);
                }
                let key = KeyConfig::new(format!("secret-of-{name}-0123456789"));
                let ring = Keyring::build(SecretFormat::Text { prefix: "" }, [key]).unwrap();
                let ring = if name == "t-alias" {
                    ring.principal("t-real")
                } else {
                    ring
                };
                Ok(Arc::new(ring))
            })
        }
    }

    impl Tenants {
        fn lookup(&self, bounds: Lookups) -> Arc<Lookup> {
            Arc::new(Lookup::new("here", Arc::new(self.clone()), None, bounds).unwrap())
        }

        fn times(&self) -> usize {
            self.0.times.load(Ordering::SeqCst)
        }

        fn is(&self, state: usize) {
            self.0.down.store(state, Ordering::SeqCst);
        }
    }

    async fn all(lookup: &Arc<Lookup>, names: impl Iterator<Item = String>) -> Vec<Answer> {
        let find = |name: String| {
            let lookup = lookup.clone();
            async move { lookup.find(Some(&name)).await }
        };
        futures_util::future::join_all(names.map(find)).await
    }

    async fn find(lookup: &Arc<Lookup>, name: &str) -> Result<String, KeyFault> {
        let ring = lookup.find(Some(name)).await?;
        Ok(ring.tenant().unwrap_or_default().to_owned())
    }

    const UNKNOWN: Result<String, KeyFault> = Err(KeyFault::Unknown);
    const UNAVAILABLE: Result<String, KeyFault> = Err(KeyFault::Unavailable);

    fn ok(name: &str) -> Result<String, KeyFault> {
        Ok(name.to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn many_who_ask_for_one_tenant_cost_one_look_up_and_keys_are_remembered() {
        let tenants = Tenants::default();
        let lookup = tenants.lookup(Lookups::default());
        let answers = all(&lookup, (0..500).map(|_| "t1".to_owned())).await;
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(tenants.times(), 1);
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        assert_eq!(tenants.times(), 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        assert_eq!(tenants.times(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn e9_an_unknown_tenant_is_forgotten_soon() {
        let tenants = Tenants::default();
        let lookup = tenants.lookup(Lookups::default());
        for _ in 0..100 {
            assert_eq!(find(&lookup, "nobody").await, UNKNOWN);
        }
        assert_eq!(tenants.times(), 1);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(find(&lookup, "nobody").await, UNKNOWN);
        assert_eq!(tenants.times(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_strangers_is_bounded_and_keeps_no_tenant_out() {
        let tenants = Tenants::default();
        let lookup = tenants.lookup(Lookups::default().tenants(100).at_once(4));
        for tenant in 0..50 {
            let name = format!("t{tenant}");
            assert_eq!(find(&lookup, &name).await, Ok(name));
        }
        let before = tenants.times();
        let flood = all(&lookup, (0..10_000).map(|stranger| format!("x{stranger}")));
        let honest = async {
            tokio::time::sleep(TAKES / 2).await;
            for tenant in 0..50 {
                // From memory: no time goes by.
                let now = Instant::now();
                let name = format!("t{tenant}");
                assert_eq!(find(&lookup, &name).await, Ok(name));
                assert_eq!(now.elapsed(), Duration::ZERO);
            }
        };
        let (answers, ()) = tokio::join!(flood, honest);
        let unknown = |answer: &&Answer| matches!(answer, Err(KeyFault::Unknown));
        let asked = answers.iter().filter(unknown).count();
        assert_eq!(asked, 4 * QUEUE, "the rest is told to come again, unasked");
        assert_eq!(tenants.times() - before, asked);
        assert_eq!(tenants.0.most.load(Ordering::SeqCst), 4);
        // And no tenant was pushed out.
        let before = tenants.times();
        for tenant in 0..50 {
            assert!(find(&lookup, &format!("t{tenant}")).await.is_ok());
        }
        assert_eq!(tenants.times(), before);
        assert!(lookup.state().flights.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn known_tenants_are_renewed_while_strangers_wait() {
        let tenants = Tenants::default();
        let bounds = Lookups::default()
            .at_once(1)
            .timeout(Duration::from_secs(10));
        let lookup = tenants.lookup(bounds);
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        tokio::time::advance(Duration::from_mins(1)).await;
        let flood = all(&lookup, (0..QUEUE).map(|stranger| format!("x{stranger}")));
        let renewed = async {
            tokio::task::yield_now().await;
            let now = Instant::now();
            assert_eq!(find(&lookup, "t1").await, ok("t1"));
            now.elapsed()
        };
        let (answers, took) = tokio::join!(flood, renewed);
        assert!(
            answers
                .iter()
                .all(|answer| matches!(answer, Err(KeyFault::Unknown)))
        );
        assert!(took <= TAKES * 2, "{took:?}");
        assert_eq!(tenants.times(), 1 + QUEUE + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn while_the_source_is_down_the_last_good_keys_are_used_for_a_time() {
        let tenants = Tenants::default();
        let lookup = tenants.lookup(Lookups::default());
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        tenants.is(DOWN);
        tokio::time::advance(Duration::from_mins(1)).await;
        for _ in 0..100 {
            assert_eq!(find(&lookup, "t1").await, ok("t1"));
        }
        assert_eq!(tenants.times(), 2, "asked once, then not for a moment");
        assert_eq!(find(&lookup, "t2").await, UNAVAILABLE);
        assert_eq!(find(&lookup, "t2").await, UNAVAILABLE);
        assert_eq!(tenants.times(), 3);
        tokio::time::advance(Duration::from_mins(9)).await;
        assert_eq!(find(&lookup, "t1").await, UNAVAILABLE);
        tenants.is(UP);
        tokio::time::advance(FAULT_PAUSE).await;
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        assert_eq!(find(&lookup, "t2").await, ok("t2"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_tenant_that_is_gone_is_refused_at_the_next_look_up() {
        let tenants = Tenants::default();
        let lookup = tenants.lookup(Lookups::default());
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        let fault = Err(KeyFault::Unknown);
        assert_eq!(
            lookup.settle(&"t1".into(), fault).err(),
            Some(KeyFault::Unknown)
        );
        // The source is down now: an answer given is not taken back.
        tenants.is(DOWN);
        assert_eq!(find(&lookup, "t1").await, UNKNOWN);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(find(&lookup, "t1").await, UNAVAILABLE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_hangs_or_panics_is_unavailable_and_gives_its_place_back() {
        let tenants = Tenants::default();
        let lookup = tenants.lookup(Lookups::default().at_once(1));
        for state in [HANGS, PANICS] {
            tenants.is(state);
            let now = Instant::now();
            assert_eq!(find(&lookup, "t1").await, UNAVAILABLE);
            assert!(now.elapsed() <= Duration::from_millis(1100));
            tokio::time::advance(FAULT_PAUSE).await;
        }
        tenants.is(UP);
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        assert!(lookup.state().flights.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_up_ends_even_if_nobody_waits_for_it() {
        let tenants = Tenants::default();
        let lookup = tenants.lookup(Lookups::default());
        let hung_up = tokio::time::timeout(TAKES / 2, find(&lookup, "t1")).await;
        assert!(hung_up.is_err());
        tokio::time::sleep(TAKES).await;
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        assert_eq!(tenants.times(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn d4_keys_bear_their_tenants_name_unless_the_source_names_another() {
        let lookup = Tenants::default().lookup(Lookups::default());
        assert_eq!(find(&lookup, "t1").await, ok("t1"));
        assert_eq!(find(&lookup, "t-alias").await, ok("t-real"));
        assert_eq!(lookup.find(None).await.unwrap().tenant(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn names_that_are_none_cost_nothing() {
        let tenants = Tenants::default();
        let lookup = tenants.lookup(Lookups::default());
        for name in ["", "t\n", "t\0", &"t".repeat(256)] {
            assert_eq!(find(&lookup, name).await, UNKNOWN);
        }
        assert_eq!(tenants.times(), 0);
        assert!(find(&lookup, &"t".repeat(255)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_header_names_the_tenant_once_or_not_at_all() {
        let tenants = Tenants::default();
        let header = Some("X-Tenant".to_owned());
        let source = Arc::new(tenants.clone());
        let lookup = Lookup::new("here", source, header, Lookups::default()).unwrap();
        let lookup = Arc::new(lookup);
        let ask = async |fields: &[(&str, &[u8])], path: Option<&str>| {
            let head = Head::new("POST", "/", fields.iter().copied()).unwrap();
            let ring = lookup.keys(&head, path).await?;
            Ok::<_, KeyFault>(ring.tenant().unwrap_or_default().to_owned())
        };
        assert_eq!(ask(&[("x-tenant", b"t1")], None).await, ok("t1"));
        assert_eq!(ask(&[], Some("t1")).await, UNKNOWN);
        assert_eq!(ask(&[("x-tenant", b"")], None).await, UNKNOWN);
        assert_eq!(ask(&[("x-tenant", b"t\xff")], None).await, UNKNOWN);
        let twice: [(&str, &[u8]); 2] = [("x-tenant", b"t1"), ("X-Tenant", b"t1")];
        assert_eq!(ask(&twice, None).await, UNKNOWN);
    }

    #[test]
    fn bounds_of_zero_and_names_that_are_no_headers_are_faults() {
        let fault = |header: Option<&str>, bounds| {
            let source = Arc::new(Tenants::default());
            let header = header.map(str::to_owned);
            Lookup::new("here", source, header, bounds)
                .unwrap_err()
                .to_string()
        };
        let bounds = Lookups::default;
        assert!(fault(None, bounds().at_once(0)).contains("zero"));
        assert!(fault(None, bounds().tenants(0)).contains("zero"));
        assert!(fault(None, bounds().timeout(Duration::ZERO)).contains("zero"));
        assert!(fault(Some(""), bounds()).contains("no header name"));
        assert!(fault(Some("x tenant"), bounds()).contains("no header name"));
    }
}
