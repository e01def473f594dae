//! Three servers of one worker that answer the same requests: bare actix, actix that verifies, and
//! the whole framework on a ledger that stores nothing.

use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::mpsc;

use actix_web::rt::System;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use webhook_actix::ledger::Ledger as _;
use webhook_actix::{
    Endpoint, HandlerError, Head, KeyConfig, Keyring, Keys, Provider as _, SystemClock, Webhooks,
    webhook,
};
use webhook_benches::{PATH, SECRETS};
use webhook_stripe::Stripe;

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

impl Server {
    pub(crate) const ALL: [Self; 3] = [Self::Raw, Self::Verifying, Self::Framework];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Verifying => "verifying",
            Self::Framework => "framework",
        }
    }

    /// Serve on threads of its own until the process ends.
    pub(crate) fn start(self) -> SocketAddr {
        let (ready, is_ready) = mpsc::channel();
        std::thread::spawn(move || System::new().block_on(self.serve(ready)));
        is_ready.recv().expect("a server that listens")
    }

    async fn serve(self, ready: mpsc::Sender<SocketAddr>) {
        let webhooks = Webhooks::builder(Nothing)
            .endpoint(
                Endpoint::at(PATH, any(), Keys::new([KeyConfig::new(SECRETS[0])])).on(on_paid),
            )
            .build()
            .expect("a configuration");
        if matches!(self, Self::Framework) {
            webhooks.start().await.expect("a start");
        }
        let secret = KeyConfig::new(SECRETS[0]);
        let keys = Keyring::build(Stripe::live().spec().secret(), [secret]).expect("a keyring");
        let keys = web::Data::new(keys);
        let app = webhooks.clone();
        let server = HttpServer::new(move || {
            let app_of = App::new().app_data(keys.clone());
            match self {
                Self::Raw => app_of.route(PATH, web::post().to(raw)),
                Self::Verifying => app_of.route(PATH, web::post().to(verifying)),
                Self::Framework => app_of.service(app.clone()),
            }
        })
        .workers(1)
        .disable_signals()
        .bind(("127.0.0.1", 0))
        .expect("a free port");
        for address in server.addrs() {
            ready.send(address).expect("somebody who waits");
        }
        webhooks.serve(server.run()).await.expect("a server");
        webhooks.ledger().close().await;
    }
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
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_bytes()));
    let head = Head::new(request.method().as_str(), request.path(), fields).expect("a head");
    match webhook_benches::verify(&SystemClock::default(), &keys, &head, body) {
        Ok(verified) => {
            black_box(verified);
            HttpResponse::Ok().finish()
        }
        Err(_) => HttpResponse::Unauthorized().finish(),
    }
}

/// Never runs: the ledger knows every event already.
#[webhook(provider = Stripe, event = "payment_intent.succeeded", at_least_once)]
async fn on_paid() -> Result<(), HandlerError> {
    Ok(())
}

const fn any() -> Stripe {
    Stripe::any_mode().any_account()
}
