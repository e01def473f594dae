//! The guarded client by itself, beside reqwest and beside hyper's bare connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use webhook_actix::{EventId, KeyConfig, Keyring, Provider as _, Signing};
use webhook_benches::{Effort, Measure};
use webhook_dispatch::guard::{
    AddressPolicy, Allow, GuardedClient, GuardedRequest, Policy, Target,
};
use webhook_standard::Standard;

use super::BYTES;
use super::sink::Sink;
use crate::contest::{Contender, contest};
use crate::timings::{Timings, crowd};

/// O1: signed, through the guard, beside reqwest and a URL that was parsed before.
pub(super) fn rate(effort: Effort) -> Measure {
    let sink = Sink::start();
    let runtime = runtime();
    let (ours, theirs) = (Guarded::new(&sink), Reqwest::new(&sink));
    let bouts = contest(
        effort,
        [
            Contender::new(|count| {
                runtime.block_on(crowd(ours.items(count), TASKS, Guarded::send))
            }),
            Contender::new(|count| {
                runtime.block_on(crowd(theirs.items(count), TASKS, Reqwest::send))
            }),
        ],
    );
    bouts.ratio(|[ours, theirs]| ours.rate() / theirs.rate())
}

/// O2: the processor's time, on one thread, beside one of hyper's connections that signs.
pub(super) fn cpu(effort: Effort) -> Measure {
    if cpu_time().is_none() {
        return Measure::Not("no processor time of threads: that takes Linux".to_owned());
    }
    let sink = Sink::start();
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let guarded = Guarded::new(&sink);
    let address = sink.address();
    let bouts = contest(
        effort,
        [
            Contender::new(|count| {
                timed(count, || {
                    runtime.block_on(async {
                        for one in guarded.items(count) {
                            one.send().await;
                        }
                    });
                })
            }),
            Contender::new(|count| timed(count, || runtime.block_on(bare(address, count)))),
        ],
    );
    bouts.ratio(|[ours, theirs]| theirs.rate() / ours.rate())
}

/// Requests a second of reqwest by itself.
pub(super) fn reqwest_rate(sink: &Sink, count: usize) -> f64 {
    let reqwest = Reqwest::new(sink);
    let sent = runtime().block_on(crowd(reqwest.items(count), TASKS, Reqwest::send));
    sent.rate()
}

/// Loopback alone, which no customer may name.
pub(super) fn loopback() -> Policy {
    let loopback = Allow::address([127, 0, 0, 1].into());
    Policy::strict()
        .addresses(AddressPolicy::public().allow(loopback))
        .allow_http()
        .any_port()
}

#[derive(Clone)]
struct Guarded {
    client: GuardedClient,
    request: GuardedRequest,
    signer: Arc<Signer>,
}

struct Signer {
    keys: Keyring,
    body: Bytes,
}

#[derive(Clone)]
struct Reqwest {
    client: reqwest::Client,
    url: reqwest::Url,
    body: Bytes,
}

impl Guarded {
    fn new(sink: &Sink) -> Self {
        let client = GuardedClient::builder().policy(loopback()).build();
        let signer = Signer::new();
        let target = Target::parse(&sink.url()).expect("a target");
        Self {
            client: client.expect("a client"),
            request: GuardedRequest::post(target, signer.body.clone()),
            signer: Arc::new(signer),
        }
    }

    fn items(&self, count: usize) -> Vec<Self> {
        vec![self.clone(); count]
    }

    async fn send(self) {
        let answer = self.client.send(&self.request, || self.signer.sign()).await;
        assert!(answer.expect("an answer").status.is_success(), "refused");
    }
}

impl Signer {
    fn new() -> Self {
        let format = Standard::new().spec().secret();
        let secret = KeyConfig::new("whsec_bWFkZSB1cCBmb3IgdGhlIGV4YW1wbGUsIG5vIHVzZSE=");
        Self {
            keys: Keyring::build(format, [secret]).expect("a key"),
            body: Bytes::from(vec![b'a'; BYTES]),
        }
    }

    fn sign(&self) -> HeaderMap {
        let id = EventId::new("evt_0198f3a2b4c57d6e8f90a1b2c3d4e5f6").expect("an id");
        let signing = Signing::new(&self.keys, &self.body, 1_750_000_000).id(id);
        let headers = Standard::new().sign(&signing).into_iter();
        headers
            .map(|(name, value)| {
                let value = HeaderValue::from_str(&value).expect("visible ASCII");
                (HeaderName::from_static(name), value)
            })
            .collect()
    }
}

impl Reqwest {
    fn new(sink: &Sink) -> Self {
        Self {
            client: reqwest::Client::new(),
            url: sink.url().parse().expect("a URL"),
            body: Bytes::from(vec![b'a'; BYTES]),
        }
    }

    fn items(&self, count: usize) -> Vec<Self> {
        vec![self.clone(); count]
    }

    async fn send(self) {
        let request = self.client.post(self.url).body(self.body);
        let answer = request.send().await.expect("an answer");
        assert!(answer.status().is_success(), "refused");
        answer.bytes().await.expect("a body");
    }
}

/// One connection that is kept, and no guard.
async fn bare(address: SocketAddr, count: usize) {
    let signer = Signer::new();
    let stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .expect("HTTP");
    let connection = tokio::spawn(connection);
    for _ in 0..count {
        let mut request = Request::post("/").body(Full::new(signer.body.clone()));
        if let Ok(request) = &mut request {
            let host = HeaderValue::from_str(&address.to_string()).expect("visible ASCII");
            request.headers_mut().insert(http::header::HOST, host);
            request.headers_mut().extend(signer.sign());
        }
        sender.ready().await.expect("a connection");
        let answer = sender.send_request(request.expect("a request")).await;
        let answer = answer.expect("an answer");
        assert!(answer.status().is_success(), "refused");
        answer.into_body().collect().await.expect("a body");
    }
    connection.abort();
}

/// So many things, by the time that this thread ran.
fn timed(count: usize, run: impl FnOnce()) -> Timings {
    let before = cpu_time().unwrap_or_default();
    run();
    let ran = cpu_time().unwrap_or_default().saturating_sub(before);
    Timings::of_many(count, ran)
}

/// How long this thread has run, by Linux.
fn cpu_time() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = times.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

fn runtime() -> Runtime {
    let mut runtime = Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all();
    runtime.build().expect("threads")
}

const TASKS: usize = 16;
