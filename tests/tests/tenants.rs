//! Namespaces over HTTP: one keyring a tenant, chosen by the path; two endpoints on one store.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};

use actix_web::{App, HttpServer};
use webhook_actix::{
    BoxFuture, Clock as _, Endpoint, EventId, KeyConfig, KeyFault, KeyQuery, KeySource, Keyring,
    Keys, Provider as _, SecretFormat, Signing, SystemClock, Webhooks, webhook,
};
use webhook_tests::app::{block_on, eventually};
use webhook_tests::on_both;
use webhook_tests::stores::{Effects, Store};
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

on_both!(
    d4_a_tenants_key_opens_its_own_path_and_no_other,
    d5_what_the_body_says_chooses_no_key,
    one_event_at_two_endpoints_runs_at_both,
);

#[webhook(provider = Timestamped, event = "note.created")]
async fn on_note<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(id.as_str()).await
}

const BODY: &[u8] = br#"{"id":"same","type":"note.created"}"#;

fn ring(name: &str) -> Keyring {
    let key = KeyConfig::new(format!("secret-of-{name}-0123456789"));
    Keyring::build(SecretFormat::Text { prefix: "" }, [key]).unwrap()
}

/// `acme` and `rival` are known, `down` cannot be looked up.
#[derive(Debug)]
struct Tenants;

impl KeySource for Tenants {
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>> {
        Box::pin(async move {
            match query.tenant {
                Some(name @ ("acme" | "rival")) => Ok(Arc::new(ring(name).principal(name))),
                Some("down") => Err(KeyFault::Unavailable),
                _ => Err(KeyFault::Unknown),
            }
        })
    }
}

/// Serve both kinds of endpoint while `test` runs.
fn serve<S: Store>(test: impl FnOnce(&S, SocketAddr)) {
    let store = Arc::new(block_on(S::fresh()));
    let (ready, is_ready) = mpsc::channel();
    let thread = std::thread::spawn({
        let store = store.clone();
        move || {
            actix_web::rt::System::new().block_on(async move {
                let listed = |name: &str| {
                    Keys::new([KeyConfig::new(format!("secret-of-{name}-0123456789"))])
                };
                let webhooks = Webhooks::builder(store.ledger().await)
                    .endpoint(
                        Endpoint::at("/t/{tenant}", Timestamped, Keys::source(Tenants)).on(on_note),
                    )
                    .endpoint(
                        Endpoint::at("/a", Timestamped, listed("a"))
                            .named("a")
                            .on(on_note),
                    )
                    .endpoint(
                        Endpoint::at("/b", Timestamped, listed("b"))
                            .named("b")
                            .on(on_note),
                    )
                    .build()
                    .unwrap();
                webhooks.start().await.unwrap();
                let app = webhooks.clone();
                let server = HttpServer::new(move || App::new().service(app.clone()))
                    .workers(1)
                    .disable_signals()
                    .bind(("127.0.0.1", 0))
                    .unwrap();
                let address = *server.addrs().first().unwrap();
                let server = server.run();
                ready.send((address, server.handle())).unwrap();
                webhooks.serve(server).await.unwrap();
            });
        }
    });
    let (address, handle) = is_ready.recv().unwrap();
    test(&store, address);
    block_on(handle.stop(true));
    thread.join().unwrap();
}

fn send(to: SocketAddr, path: &str, signed_by: &str) -> u16 {
    send_body(to, path, signed_by, BODY)
}

fn send_body(to: SocketAddr, path: &str, signed_by: &str, body: &[u8]) -> u16 {
    let keys = ring(signed_by);
    let signing = Signing::new(&keys, body, SystemClock::default().unix_secs());
    let headers = Timestamped.sign(&signing).into_iter();
    let headers: Vec<_> = headers
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    post(to, path, &headers, body).status
}

fn effects<S: Store>(store: &S) -> i64 {
    block_on(store.number("select count(*) from effect"))
}

fn d4_a_tenants_key_opens_its_own_path_and_no_other<S: Store>() {
    serve::<S>(|store, address| {
        assert_eq!(send(address, "/t/rival", "acme"), 401);
        assert_eq!(send(address, "/t/nobody", "acme"), 401);
        assert_eq!(send(address, "/t/down", "acme"), 503);
        // One id of two tenants is two events.
        for tenant in ["acme", "rival", "acme"] {
            assert_eq!(send(address, &format!("/t/{tenant}"), tenant), 200);
        }
        eventually("two took effect", || effects(store) == 2);
        assert_eq!(
            block_on(store.number("select count(*) from webhook.inbox")),
            2
        );
    });
}

fn d5_what_the_body_says_chooses_no_key<S: Store>() {
    serve::<S>(|store, address| {
        let body = br#"{"id":"named","type":"note.created","account":"rival","tenant":"rival"}"#;
        assert_eq!(send_body(address, "/t/acme", "rival", body), 401);
        assert_eq!(send_body(address, "/t/acme", "acme", body), 200);
        eventually("it took effect", || effects(store) == 1);
        let acme = "select count(*) from webhook.inbox where principal = 'acme'";
        assert_eq!(block_on(store.number(acme)), 1);
    });
}

fn one_event_at_two_endpoints_runs_at_both<S: Store>() {
    serve::<S>(|store, address| {
        for name in ["a", "b", "a"] {
            assert_eq!(send(address, &format!("/{name}"), name), 200);
        }
        assert_eq!(send(address, "/a", "b"), 401);
        eventually("both took effect", || effects(store) == 2);
        assert_eq!(
            block_on(store.number("select count(*) from webhook.inbox")),
            2
        );
    });
}
