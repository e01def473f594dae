//! The application that receives.

use std::time::Duration;

use actix_web::{App, HttpServer};
use webhook_actix::ledger::Ledger;
use webhook_actix::{Endpoint, Event, HandlerError, KeyConfig, Keys, Webhooks, webhook};
use webhook_standard::Standard;

use super::terminated;
use crate::stores::Effects;
use crate::torture::Body;

/// What senders sign with.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The paths it listens on, each of another tenant. The last one has its effect within the request.
pub const RECEIVED_AT: [&str; 3] = ["/0", "/1", "/2"];

#[webhook(provider = Standard, event = "note.created")]
async fn on_note<C: Effects>(body: Event<Body>, db: &mut C) -> Result<(), HandlerError> {
    Ok(db.record(&body.key).await?)
}

#[webhook(provider = Standard, event = "note.created", inline)]
async fn on_note_inline<C: Effects>(body: Event<Body>, db: &mut C) -> Result<(), HandlerError> {
    Ok(db.record(&body.key).await?)
}

pub(super) async fn run<L: Ledger<Conn: Effects>>(ledger: L, port: u16) {
    let keys = || Keys::new([KeyConfig::new(SECRET)]);
    let [first, second, inline] = RECEIVED_AT;
    let lease = Duration::from_secs(2);
    macro_rules! endpoint {
        ($path:expr, $handler:expr) => {
            Endpoint::at($path, Standard::new(), keys())
                .shared_secret()
                .named($path.trim_matches('/'))
                .lease(lease)
                .inline_deadline(lease.mul_f64(0.75))
                .acknowledge_within(lease)
                .on($handler)
        };
    }
    let webhooks = Webhooks::builder(ledger)
        .endpoint(endpoint!(first, on_note))
        .endpoint(endpoint!(second, on_note))
        .endpoint(endpoint!(inline, on_note_inline))
        .build()
        .unwrap();
    webhooks.start().await.unwrap();
    let app = webhooks.clone();
    let server = HttpServer::new(move || App::new().service(app.clone()))
        .workers(2)
        .disable_signals()
        .shutdown_timeout(5)
        .bind(("127.0.0.1", port))
        .unwrap();
    let address = *server.addrs().first().unwrap();
    let server = server.run();
    let handle = server.handle();
    actix_web::rt::spawn(async move {
        terminated().await;
        handle.stop(true).await;
    });
    println!("{address}");
    webhooks.serve(server).await.unwrap();
}
