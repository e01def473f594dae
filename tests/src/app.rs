//! A whole application over HTTP: seven endpoints, handlers that do as the test says.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use actix_web::{App as ActixApp, HttpServer};
use serde::Deserialize;
use webhook_actix::{
    BoxFuture, Clock, Data, Disposition, DynProvider, Endpoint, Event, EventId, HandlerError,
    KeyConfig, KeyFault, KeyQuery, KeySource, Keyring, Keys, Repeats, Reply, SecretFormat, Signing,
    Tx, Unsigned, Webhooks, webhook,
};
use webhook_github::GitHub;
use webhook_mailgun::Mailgun;
use webhook_meta::Meta;
use webhook_slack::Slack;
use webhook_sns::Sns;
use webhook_stripe::Stripe;
use webhook_timestamped::Timestamped;

use crate::stores::{Effects, Store};

/// The present, in Unix seconds, as the application sees it.
pub const NOW: i64 = 1_750_000_000;
/// The secret of every endpoint, with a suffix of its name.
pub const SECRET: &str = "canary-secret-0123456789abcdef";

/// A running application.
#[derive(Debug)]
pub struct App {
    /// Where it listens.
    pub address: SocketAddr,
    /// How its handlers behave.
    pub script: Script,
    /// Its clock.
    pub clock: Manual,
    server: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

/// A clock that tests turn.
#[derive(Debug, Clone)]
pub struct Manual(Arc<AtomicI64>);

/// What handlers do, and how often they ran.
#[derive(Debug, Clone, Default)]
pub struct Script(Arc<Mutex<HashMap<String, Plan>>>);

#[derive(Debug, Default)]
struct Plan {
    runs: Arc<AtomicU32>,
    acts: Vec<Act>,
}

/// What one run of a handler does instead of simply recording its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// Record the effect, then fail.
    Fail,
    /// Record the effect, then fail for good.
    DeadLetter,
    /// Record the effect, then say there was nothing to do.
    Ignore,
    /// Record the effect, then panic.
    Panic,
    /// Sleep before the effect.
    SleepBefore(Duration),
    /// Sleep after the effect.
    SleepAfter(Duration),
    /// Record the effect, then block the thread.
    Block(Duration),
    /// Record the effect, then commit by hand.
    Commit,
    /// Likewise, then fail.
    CommitAndFail,
    /// Likewise, then panic.
    CommitAndPanic,
    /// Nothing unusual.
    Record,
}

/// The body of the custom events.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
pub struct Note {
    /// Only read by events that want it.
    pub amount: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[non_exhaustive]
struct Strict {
    #[expect(dead_code, reason = "its absence is what is tested")]
    must_be_there: u64,
}

impl Script {
    /// Let the next runs for event `id` act so, one each; later ones record.
    pub fn plan(&self, id: &str, acts: impl IntoIterator<Item = Act>) {
        let mut plans = self.0.lock().unwrap();
        plans.entry(id.to_owned()).or_default().acts = acts.into_iter().collect();
    }

    /// How often a handler ran for event `id`.
    pub fn runs(&self, id: &str) -> u32 {
        let plans = self.0.lock().unwrap();
        plans
            .get(id)
            .map_or(0, |plan| plan.runs.load(Ordering::SeqCst))
    }

    fn next(&self, id: &str) -> Act {
        let mut plans = self.0.lock().unwrap();
        let plan = plans.entry(id.to_owned()).or_default();
        plan.runs.fetch_add(1, Ordering::SeqCst);
        if plan.acts.is_empty() {
            Act::Record
        } else {
            plan.acts.remove(0)
        }
    }

    async fn perform<C: Effects>(&self, id: &str, db: &mut C) -> Result<(), HandlerError> {
        self.next(id).perform(id, db).await
    }
}

impl Act {
    /// Record the effect of `id` on `db`, in this way.
    ///
    /// # Errors
    ///
    /// If the store does, or it is the act.
    ///
    /// # Panics
    ///
    /// If it is the act.
    pub async fn perform<C: Effects>(self, id: &str, db: &mut C) -> Result<(), HandlerError> {
        if let Self::SleepBefore(length) = self {
            actix_web::rt::time::sleep(length).await;
        }
        db.record(id).await?;
        match self {
            Self::Record | Self::SleepBefore(_) => Ok(()),
            Self::SleepAfter(length) => {
                actix_web::rt::time::sleep(length).await;
                Ok(())
            }
            Self::Block(length) => {
                std::thread::sleep(length);
                Ok(())
            }
            Self::Commit => Ok(db.commit_by_hand().await?),
            Self::CommitAndFail => {
                db.commit_by_hand().await?;
                Err("canary-error-text".into())
            }
            Self::CommitAndPanic => {
                db.commit_by_hand().await?;
                panic!("canary-panic")
            }
            Self::Panic => panic!("canary-panic"),
            Self::Fail => Err("canary-error-text".into()),
            Self::DeadLetter => Err(HandlerError::public(Disposition::DeadLetter, "hopeless")),
            Self::Ignore => Err(HandlerError::public(Disposition::Ignore, "nothing to do")),
        }
    }
}

/// Inbox.
#[webhook(provider = Timestamped, event = "note.created")]
pub async fn on_note<C: Effects>(
    _event: Event<Note>,
    id: EventId,
    script: Data<Script>,
    db: &mut C,
) -> Result<(), HandlerError> {
    script.perform(id.as_str(), db).await
}

/// Inbox, with a payload that few events have.
#[webhook(provider = Timestamped, event = "note.strict")]
pub async fn on_strict<C: Effects>(
    _event: Event<Strict>,
    id: EventId,
    db: &mut C,
) -> Result<(), HandlerError> {
    Ok(db.record(id.as_str()).await?)
}

/// Inbox, slow before its transaction.
#[webhook(provider = Timestamped, event = "note.slow")]
pub async fn on_slow<C: Effects>(
    id: EventId,
    script: Data<Script>,
    mut tx: Tx<'_, C>,
) -> Result<(), HandlerError> {
    if let Act::SleepBefore(length) = script.next(id.as_str()) {
        actix_web::rt::time::sleep(length).await;
    }
    tx.begin().await?.record(id.as_str()).await?;
    Ok(())
}

/// Inline, with a reply.
#[webhook(provider = Timestamped, event = "credit.approved", inline)]
pub async fn on_credit<C: Effects>(
    id: EventId,
    script: Data<Script>,
    db: &mut C,
) -> Result<Reply, HandlerError> {
    script.perform(id.as_str(), db).await?;
    Ok(Reply::json(format!("{{\"credited\":\"{id}\"}}")))
}

/// Inbox.
#[webhook(provider = Stripe, events("invoice.paid", "payment_intent.succeeded"))]
pub async fn on_stripe<C: Effects>(
    id: EventId,
    script: Data<Script>,
    db: &mut C,
) -> Result<(), HandlerError> {
    script.perform(id.as_str(), db).await
}

/// Inbox.
#[webhook(provider = GitHub, events("push", "ping"))]
pub async fn on_github<C: Effects>(
    id: Unsigned<EventId>,
    script: Data<Script>,
    db: &mut C,
) -> Result<(), HandlerError> {
    script.perform(id.dangerous_trust().as_str(), db).await
}

/// Inline on a provider that never retries.
#[webhook(provider = GitHub, event = "issues", inline)]
pub async fn on_issues<C: Effects>(
    id: Unsigned<EventId>,
    script: Data<Script>,
    db: &mut C,
) -> Result<(), HandlerError> {
    script.perform(id.dangerous_trust().as_str(), db).await
}

/// Inbox.
#[webhook(provider = Slack, event = "app_mention")]
pub async fn on_slack<C: Effects>(
    id: EventId,
    script: Data<Script>,
    db: &mut C,
) -> Result<(), HandlerError> {
    script.perform(id.as_str(), db).await
}

/// Inbox.
#[webhook(provider = Meta, event = "messages")]
pub async fn on_meta<C: Effects>(id: EventId, db: &mut C) -> Result<(), HandlerError> {
    Ok(db.record(id.as_str()).await?)
}

/// Inbox, of a provider whose events nobody signs.
#[webhook(provider = Mailgun, event = "delivered")]
pub async fn on_mailgun<C: Effects>(id: Unsigned<EventId>, db: &mut C) -> Result<(), HandlerError> {
    Ok(db.record(id.dangerous_trust().as_str()).await?)
}

/// Inbox, under a certificate that the body names.
#[webhook(provider = Sns, event = "Notification")]
pub async fn on_sns<C: Effects>(id: EventId, db: &mut C) -> Result<(), HandlerError> {
    Ok(db.record(id.as_str()).await?)
}

/// The certificates of `/sns`: one is known.
#[derive(Debug)]
struct Certificates;

/// Where it stands.
pub const CERTIFICATE: &str = "https://sns.eu-west-1.amazonaws.com/known.pem";
/// The private half of its key.
pub const CERTIFIED: &str = include_str!("../../providers/sns/testdata/private.b64");
/// The topic of `/sns`.
pub const TOPIC: &str = "arn:aws:sns:eu-west-1:123456789012:orders";

impl KeySource for Certificates {
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>> {
        Box::pin(async move {
            if query.certificate != Some(CERTIFICATE) {
                return Err(KeyFault::Unknown);
            }
            let key = KeyConfig::new(CERTIFIED.trim());
            let ring = Keyring::build(SecretFormat::RsaSpki, [key]);
            ring.map(Arc::new).map_err(|_| KeyFault::Unavailable)
        })
    }
}

/// Settings that tests turn.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "tests name what they turn")]
pub struct Tuning {
    /// Longest time a body may take.
    pub body_timeout: Duration,
    /// Lease of events.
    pub lease: Duration,
    /// Deadline of inline handlers.
    pub inline_deadline: Duration,
    /// Deadline of acknowledgements.
    pub acknowledge_within: Duration,
    /// Budget of unauthenticated bytes.
    pub unauthenticated_bytes: usize,
    /// Attempts before an event is dead.
    pub max_failures: u32,
    /// Longest run of a handler.
    pub max_attempt: Duration,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            body_timeout: Duration::from_secs(10),
            lease: Duration::from_secs(30),
            inline_deadline: Duration::from_secs(10),
            acknowledge_within: Duration::from_secs(10),
            unauthenticated_bytes: 128 * 1024 * 1024,
            max_failures: 3,
            max_attempt: Duration::from_mins(15),
        }
    }
}

impl App {
    /// Start on `store`, on a free port.
    ///
    /// # Panics
    ///
    /// If it does not come up.
    pub fn start<S: Store>(store: &Arc<S>, tuning: Tuning) -> Self {
        let (ready, is_ready) = mpsc::channel();
        let script = Script::default();
        let clock = Manual(Arc::new(AtomicI64::new(NOW)));
        let thread = std::thread::spawn({
            let (store, script, clock) = (store.clone(), script.clone(), clock.clone());
            move || {
                actix_web::rt::System::new().block_on(async move {
                    let ledger = store.ledger().await;
                    serve(ledger, script, clock, tuning, |address, server| {
                        ready.send((address, server)).unwrap();
                    })
                    .await;
                });
            }
        });
        let (address, server) = is_ready.recv_timeout(Duration::from_mins(1)).unwrap();
        Self {
            address,
            script,
            clock,
            server,
            thread: Some(thread),
        }
    }

    /// Stop the server and the engine in order.
    ///
    /// # Panics
    ///
    /// If the application panicked.
    pub fn stop(mut self) {
        self.finish().unwrap();
    }

    fn finish(&mut self) -> std::thread::Result<()> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        let server = self.server.clone();
        let stop = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(server.stop(true));
        });
        stop.join()?;
        thread.join()
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Serve the application on `ledger` until its server is stopped.
///
/// # Panics
///
/// If it does not come up.
pub async fn serve<L>(
    ledger: L,
    script: Script,
    clock: impl Clock,
    tuning: Tuning,
    ready: impl FnOnce(SocketAddr, ServerHandle),
) where
    L: webhook_actix::ledger::Ledger<Conn: Effects>,
{
    run(mount(ledger, script, clock, tuning), ready).await;
}

/// Serve `webhooks` on a free port until the server is stopped.
///
/// # Panics
///
/// If it does not come up.
pub async fn run<L>(webhooks: Webhooks<L>, ready: impl FnOnce(SocketAddr, ServerHandle))
where
    L: webhook_actix::ledger::Ledger,
{
    webhooks.start().await.unwrap();
    let app = webhooks.clone();
    let server = HttpServer::new(move || ActixApp::new().service(app.clone()))
        .workers(2)
        .disable_signals()
        .shutdown_timeout(5)
        .bind(("127.0.0.1", 0))
        .unwrap();
    let address = *server.addrs().first().unwrap();
    let server = server.run();
    ready(address, server.handle());
    webhooks.serve(server).await.unwrap();
}

fn mount<L>(ledger: L, script: Script, clock: impl Clock, tuning: Tuning) -> Webhooks<L>
where
    L: webhook_actix::ledger::Ledger<Conn: Effects>,
{
    let backoff = (Duration::from_millis(20), Duration::from_millis(100));
    let named = |name: &str| Keys::new([KeyConfig::new(format!("{SECRET}-{name}")).id("k1")]);
    macro_rules! endpoint {
        ($name:literal, $provider:expr, $($handler:expr),+) => {
            Endpoint::at(concat!("/", $name), $provider, named($name))
                .named($name)
                .body_timeout(tuning.body_timeout)
                .lease(tuning.lease)
                .inline_deadline(tuning.inline_deadline)
                .acknowledge_within(tuning.acknowledge_within)
                .max_failures(tuning.max_failures)
                .max_attempt(tuning.max_attempt)
                .max_body_bytes(1024 * 1024)
                .backoff(backoff.0, backoff.1)
                $(.on($handler))+
        };
    }
    Webhooks::builder(ledger)
        .endpoint(endpoint!(
            "custom",
            Timestamped,
            on_note,
            on_strict,
            on_slow,
            on_credit
        ))
        .endpoint(endpoint!("stripe", Stripe::any_mode(), on_stripe))
        .endpoint(endpoint!("github", GitHub, on_github, on_issues).repeats(Repeats::Quarantine))
        .endpoint(endpoint!("slack", Slack, on_slack))
        .endpoint(endpoint!("meta", Meta::verified_by(SECRET), on_meta))
        .endpoint(endpoint!(
            "mailgun",
            Mailgun::dangerous_unsigned_events(),
            on_mailgun
        ))
        .endpoint(
            Endpoint::at("/sns", Sns::of([TOPIC]), Keys::source(Certificates))
                .max_body_bytes(256 * 1024)
                .backoff(backoff.0, backoff.1)
                .on(on_sns),
        )
        .data(script)
        .clock(clock)
        .unauthenticated_bytes(tuning.unauthenticated_bytes)
        .build()
        .unwrap()
}

impl Manual {
    /// Set the clock.
    pub fn set(&self, unix_secs: i64) {
        self.0.store(unix_secs, Ordering::SeqCst);
    }
}

impl Clock for Manual {
    fn unix_secs(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// The headers of a request to endpoint `name`, signed with its secret at `at`.
///
/// # Panics
///
/// If the secret is refused.
pub fn signed(
    name: &str,
    provider: &dyn DynProvider,
    body: &[u8],
    at: i64,
) -> Vec<(String, String)> {
    let key = KeyConfig::new(format!("{SECRET}-{name}")).id("k1");
    let keys = Keyring::build(SecretFormat::Text { prefix: "" }, [key]).unwrap();
    let headers = provider.sign(&Signing::new(&keys, body, at));
    let json = ("Content-Type".to_owned(), "application/json".to_owned());
    let signed = headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    std::iter::once(json).chain(signed).collect()
}

/// A request to `/custom`, signed at [`NOW`].
pub fn custom(id: &str, event_type: &str) -> (Vec<(String, String)>, Vec<u8>) {
    custom_at(id, event_type, NOW)
}

/// A request to `/custom`, signed at `at`.
pub fn custom_at(id: &str, event_type: &str, at: i64) -> (Vec<(String, String)>, Vec<u8>) {
    let body = serde_json::json!({"id": id, "type": event_type, "amount": 7})
        .to_string()
        .into_bytes();
    (signed("custom", &Timestamped, &body, at), body)
}

/// Wait until `what` holds.
///
/// # Panics
///
/// After 30 s.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Run a future to its end on this thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    actix_web::rt::System::new().block_on(future)
}
