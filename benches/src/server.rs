//! Servers of one worker that store nothing and answer the same requests: bare actix, actix that
//! verifies, and the whole framework on a ledger that stores nothing.

use std::future::Future;
use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::JoinHandle;

use actix_web::dev::{HttpServiceFactory, ServerHandle};
use actix_web::rt::System;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use webhook_actix::{
    Endpoint, HandlerError, Head, KeyConfig, Keyring, Keys, Provider as _, SystemClock, Verified,
    Webhooks, webhook,
};
use webhook_benches::{PATH, SECRETS};
use webhook_stripe::Stripe;

use crate::events::provider;
use crate::nothing::Nothing;

/// What a server does with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Server {
    /// Reads the body.
    Raw,
    /// Reads the body and verifies it, in an ordinary handler.
    Verifying,
    /// Everything but storing.
    Framework,
}

/// A server on threads of its own. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Running {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

/// Where a server that listens says so.
pub(crate) type Ready = mpsc::Sender<(SocketAddr, ServerHandle)>;

impl Server {
    pub(crate) const ALL: [Self; 3] = [Self::Raw, Self::Verifying, Self::Framework];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Verifying => "verifying",
            Self::Framework => "framework",
        }
    }

    pub(crate) fn start(self) -> Running {
        match self {
            Self::Raw => Running::start(|ready| {
                listen(ready, || web::resource(PATH).route(web::post().to(raw)))
            }),
            Self::Verifying => Running::start(|ready| {
                let keys = web::Data::new(keyring());
                listen(ready, move || {
                    let resource = web::resource(PATH).app_data(keys.clone());
                    resource.route(web::post().to(verifying))
                })
            }),
            Self::Framework => Running::start(framework),
        }
    }
}

impl Running {
    /// `serve` runs until its server is stopped.
    pub(crate) fn start<F, S>(serve: S) -> Self
    where
        F: Future<Output = ()>,
        S: FnOnce(Ready) -> F + Send + 'static,
    {
        let (ready, is_ready) = mpsc::channel();
        let thread = std::thread::spawn(move || System::new().block_on(serve(ready)));
        let (address, handle) = is_ready.recv().expect("a server that listens");
        Self {
            address,
            handle,
            thread: Some(thread),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Told at once; the future is only for who wants to wait.
        drop(self.handle.stop(false));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serve `service` by one worker, on a free port.
pub(crate) async fn listen<S, R>(ready: Ready, service: S)
where
    S: Fn() -> R + Clone + Send + 'static,
    R: HttpServiceFactory + 'static,
{
    let server = HttpServer::new(move || App::new().service(service()))
        .workers(1)
        .disable_signals()
        .bind(("127.0.0.1", 0))
        .expect("a free port");
    let address = server.addrs().into_iter().next().expect("an address");
    let server = server.run();
    let listening = ready.send((address, server.handle()));
    listening.expect("somebody who waits");
    server.await.expect("a server");
}

/// The endpoint of all servers of the framework, without handlers.
pub(crate) fn endpoint<C: Send + 'static>() -> Endpoint<Stripe, C> {
    Endpoint::at(PATH, provider(), Keys::new([KeyConfig::new(SECRETS[0])]))
}

pub(crate) fn keyring() -> Keyring {
    let secret = KeyConfig::new(SECRETS[0]);
    Keyring::build(Stripe::live().spec().secret(), [secret]).expect("a keyring")
}

/// What an ordinary handler does to `body` before it reads it. Nothing for one that is not authentic.
pub(crate) fn verify<T>(
    request: &HttpRequest,
    body: web::Bytes,
    keys: &Keyring,
    read: impl FnOnce(&Verified<'_>) -> T,
) -> Option<T> {
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_bytes()));
    let head = Head::new(request.method().as_str(), request.path(), fields).ok()?;
    let verified = webhook_benches::verify(&SystemClock::default(), keys, &head, body);
    verified.ok().map(|verified| read(&verified))
}

async fn framework(ready: Ready) {
    let webhooks = Webhooks::builder(Nothing)
        .endpoint(endpoint().on(on_paid))
        .build();
    let webhooks = webhooks.expect("a configuration");
    webhooks.start().await.expect("a start");
    let app = webhooks.clone();
    listen(ready, move || app.clone()).await;
    webhooks.shutdown().await;
}

async fn raw(body: web::Bytes) -> HttpResponse {
    black_box(body);
    HttpResponse::Ok().finish()
}

async fn verifying(
    request: HttpRequest,
    body: web::Bytes,
    keys: web::Data<Keyring>,
) -> HttpResponse {
    match verify(&request, body, &keys, |verified| {
        black_box(verified);
    }) {
        Some(()) => HttpResponse::Ok().finish(),
        None => HttpResponse::Unauthorized().finish(),
    }
}

/// Never runs: the ledger knows every event already.
#[webhook(provider = Stripe, event = "payment_intent.succeeded", at_least_once)]
async fn on_paid() -> Result<(), HandlerError> {
    Ok(())
}
