//! Real requests to a real server on axum: routing, answers, bounds, order. What an answer depends on is the engine's,
//! and tested there.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "tests assert by panicking"
)]

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use sqlx::{Row as _, SqliteConnection};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use webhook_axum::{
    BoxFuture, Clock, Endpoint, EventId, Events, HandlerError, KeyConfig, KeyFault, KeyQuery,
    KeySource, Keyring, Keys, Provider as _, SecretFormat, Signing, Webhooks, webhook,
};
use webhook_sqlx::SqliteLedger;
use webhook_stripe::Stripe;

const SECRET: &str = "whsec_test_0123456789abcdef0123456789";
const NOW: i64 = 1_750_000_000;

#[derive(Events)]
enum Billing {
    #[event = "invoice.paid"]
    Paid,
    #[event(other)]
    Other,
}

#[webhook(provider = Stripe, inline)]
async fn on_billing(
    event: webhook_axum::Event<Billing>,
    id: EventId,
    db: &mut SqliteConnection,
) -> Result<(), HandlerError> {
    if let Billing::Paid = event.into_inner() {
        sqlx::query("insert into credit (event) values (?1)")
            .bind(id.as_str())
            .execute(db)
            .await?;
    }
    Ok(())
}

#[derive(Debug)]
struct Fixed;

impl Clock for Fixed {
    fn unix_secs(&self) -> i64 {
        NOW
    }
}

/// Tenants `a` and `b c`, each with a secret of its own.
#[derive(Debug)]
struct Tenants;

impl KeySource for Tenants {
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>> {
        Box::pin(async move {
            match query.tenant {
                Some(tenant @ ("a" | "b c")) => Ok(Arc::new(ring(&secret_of(tenant)))),
                _ => Err(KeyFault::Unknown),
            }
        })
    }
}

fn secret_of(tenant: &str) -> String {
    format!("{SECRET}{tenant}!")
}

fn ring(secret: &str) -> Keyring {
    Keyring::build(SecretFormat::Text { prefix: "" }, [KeyConfig::new(secret)]).unwrap()
}

struct App {
    address: SocketAddr,
    stop: Arc<Notify>,
    served: tokio::task::JoinHandle<()>,
    db: std::path::PathBuf,
    _dir: Dir,
}

/// A folder that goes with its test.
struct Dir(std::path::PathBuf);

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl App {
    async fn start(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("webhook-axum-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let dir = Dir(dir);
        let db = dir.0.join("app.db");
        let ledger = SqliteLedger::open(db.to_str().unwrap()).await.unwrap();
        let mut conn = connect(&db).await;
        sqlx::query("create table credit (event text not null)")
            .execute(&mut conn)
            .await
            .unwrap();
        let webhooks = Webhooks::builder(ledger)
            .endpoint(
                Endpoint::at(
                    "/stripe",
                    Stripe::live(),
                    Keys::new([KeyConfig::new(SECRET)]),
                )
                .on(on_billing),
            )
            .endpoint(
                Endpoint::at(
                    "/shops/{tenant}/stripe",
                    Stripe::live(),
                    Keys::source(Tenants),
                )
                .named("shops")
                .on(on_billing),
            )
            .clock(Fixed)
            .build()
            .unwrap();
        webhooks.start().await.unwrap();
        let app: Router = Router::new()
            .route(
                "/",
                axum::routing::get(|| async { "the application's own" }),
            )
            .merge(webhook_axum::router(&webhooks));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(Notify::new());
        let stopped = stop.clone();
        let served = tokio::spawn(async move {
            let server = axum::serve(listener, app)
                .with_graceful_shutdown(async move { stopped.notified().await });
            webhooks.serve(server).await.unwrap();
        });
        Self {
            address,
            stop,
            served,
            db,
            _dir: dir,
        }
    }

    async fn send(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A refusal may close the connection before everything is sent; the answer still counts.
        let _ = stream.write_all(request).await;
        read(&mut stream).await
    }

    async fn effects(&self) -> i64 {
        let mut conn = connect(&self.db).await;
        let row = sqlx::query("select count(*) from credit").fetch_one(&mut conn);
        row.await.unwrap().get(0)
    }

    async fn stop(self) {
        self.stop.notify_one();
        self.served.await.unwrap();
    }
}

async fn connect(db: &std::path::Path) -> SqliteConnection {
    use sqlx::ConnectOptions as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(db);
    options.connect().await.unwrap()
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

async fn read(stream: &mut TcpStream) -> Answer {
    let mut text = String::new();
    let mut bytes = vec![0; 4096];
    loop {
        let length = stream.read(&mut bytes).await.unwrap();
        text.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert_ne!(length, 0, "no answer: {text:?}");
            continue;
        };
        let head = head.to_lowercase();
        let announced = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let announced = announced.map_or(0, |length| length.parse().unwrap());
        if body.len() >= announced || length == 0 {
            let status = head[9..12].parse().unwrap();
            let body = body.to_owned();
            return Answer { status, head, body };
        }
    }
}

fn event(id: &str) -> String {
    format!(
        r#"{{"id":"{id}","object":"event","type":"invoice.paid","livemode":true,"created":{NOW},"data":{{"object":{{}}}}}}"#
    )
}

fn signed(path: &str, secret: &str, body: &str) -> Vec<u8> {
    let headers = Stripe::live().sign(&Signing::new(&ring(secret), body.as_bytes(), NOW));
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.extend([name, ": ", value.as_str(), "\r\n"]);
    }
    request.push_str("\r\n");
    request.push_str(body);
    request.into_bytes()
}

#[tokio::test]
async fn a_delivery_has_one_effect_and_a_forged_one_none() {
    let app = App::start("once").await;
    let request = signed("/stripe", SECRET, &event("evt_1"));
    for _ in 0..2 {
        let answer = app.send(&request).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, ""));
        assert!(answer.head.contains("cache-control: no-store"));
    }
    let forged = signed("/stripe", "another secret, of some length", &event("evt_2"));
    let answer = app.send(&forged).await;
    assert_eq!((answer.status, answer.body.as_str()), (401, "refused\n"));
    assert!(answer.head.contains("x-content-type-options: nosniff"));
    assert_eq!(app.effects().await, 1);
    app.stop().await;
}

#[tokio::test]
async fn fifty_at_once_have_one_effect() {
    let app = Arc::new(App::start("race").await);
    let request = Arc::new(signed("/stripe", SECRET, &event("evt_1")));
    let sends = (0..50).map(|_| {
        let (app, request) = (app.clone(), request.clone());
        tokio::spawn(async move { app.send(&request).await.status })
    });
    for send in sends.collect::<Vec<_>>() {
        assert_eq!(send.await.unwrap(), 200);
    }
    assert_eq!(app.effects().await, 1);
    Arc::into_inner(app).unwrap().stop().await;
}

#[tokio::test]
async fn tenants_come_decoded_from_the_path() {
    let app = App::start("tenants").await;
    for (path, tenant, expected) in [
        ("/shops/a/stripe", "a", 200),
        ("/shops/b%20c/stripe", "b c", 200),
        ("/shops/a/stripe", "b c", 401),
        ("/shops/nobody/stripe", "a", 401),
    ] {
        let id = format!("evt_{}", tenant.len());
        let answer = app
            .send(&signed(path, &secret_of(tenant), &event(&id)))
            .await;
        assert_eq!(answer.status, expected, "{path} {tenant}");
    }
    assert_eq!(app.effects().await, 2);
    app.stop().await;
}

#[tokio::test]
async fn other_methods_and_paths_are_the_applications() {
    let app = App::start("methods").await;
    for method in ["GET", "HEAD", "PUT", "DELETE"] {
        let request = format!("{method} /stripe HTTP/1.1\r\nHost: test\r\n\r\n");
        let answer = app.send(request.as_bytes()).await;
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.head.contains("allow: post"), "{}", answer.head);
    }
    let own = app.send(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n").await;
    assert_eq!(
        (own.status, own.body.as_str()),
        (200, "the application's own")
    );
    app.stop().await;
}

#[tokio::test]
async fn a_body_beyond_the_cap_is_refused_and_the_connection_closed() {
    let app = App::start("bounds").await;
    // axum's own limit of 2 MB must not answer in the engine's place.
    let genuine = event("evt_1");
    let padded = genuine.replacen('{', &format!("{{{}", " ".repeat(200 * 1024)), 1);
    assert_eq!(
        app.send(&signed("/stripe", SECRET, &padded)).await.status,
        200
    );

    let announced = "POST /stripe HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\
        Stripe-Signature: t=1750000000,v1=0000000000000000000000000000000000000000000000000000000000000000\r\n";
    let huge = format!("{announced}Content-Length: 1073741824\r\n\r\n");
    let answer = app.send(huge.as_bytes()).await;
    assert_eq!(answer.status, 413);
    assert!(answer.head.contains("connection: close"), "{}", answer.head);

    let mut chunked = format!("{announced}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for _ in 0..(5 * 16) {
        chunked.extend_from_slice(b"10000\r\n");
        chunked.extend_from_slice(&vec![b' '; 0x10000]);
        chunked.extend_from_slice(b"\r\n");
    }
    let answer = app.send(&chunked).await;
    assert_eq!(answer.status, 413);
    assert!(answer.head.contains("connection: close"), "{}", answer.head);
    assert_eq!(app.effects().await, 1);
    app.stop().await;
}
