//! The two applications of `cargo xtask torture --outbound`: one that sends, in several processes, and one
//! that receives. Both are the program `outbound`.
//!
//! `outbound DATABASE_URL sender seed=SEED`: changes its database, tells of it, and dispatches.
//!
//! `outbound DATABASE_URL receiver port=PORT`: this project's receiver, with one effect an event.
//!
//! Both stop in order at SIGTERM, and at once when standard input ends.

use std::io::Read as _;
use std::time::Duration;

use webhook_core::outbox::{HealthPolicy, Outbox};
use webhook_dispatch::guard::{AddressPolicy, Allow, GuardedClient, Policy};
use webhook_dispatch::{Dispatcher, Schedule, Vault, VaultKey};
use webhook_sqlx::{PostgresLedger, PostgresOutbox, SqliteLedger, SqliteOutbox};

mod receiver;
mod sender;

pub use receiver::{RECEIVED_AT, SECRET};
pub use sender::{ORDERED, TROUBLED};

/// How long an endpoint has to answer.
pub const DEADLINE: Duration = Duration::from_millis(600);

/// How long a dispatcher holds a delivery: what it makes of [`DEADLINE`].
pub const LEASE: Duration = Duration::from_millis(1800);

/// Attempts of a delivery. Enough for whoever answers at last.
pub const ATTEMPTS: u32 = 81;

/// Be one of them, as the command line says.
///
/// # Panics
///
/// If it does not come up.
pub async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, role, rest @ ..] = &arguments[..] else {
        panic!("usage: outbound DATABASE_URL sender|receiver NAME=NUMBER..");
    };
    let number = |name: &str| -> u64 {
        let mut values = rest.iter().filter_map(|word| word.split_once('='));
        let value = values.find_map(|(named, value)| (named == name).then_some(value));
        value.unwrap().parse().unwrap()
    };
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    std::thread::spawn(|| {
        // When it ends, whoever started us is gone.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
    let is_postgres = url.starts_with("postgres");
    match (&role[..], is_postgres) {
        ("sender", true) => sender::run::<PostgresOutbox>(url, number("seed")).await,
        ("sender", false) => sender::run::<SqliteOutbox>(url, number("seed")).await,
        ("receiver", is_postgres) => {
            let port = number("port").try_into().unwrap();
            if is_postgres {
                receiver::run(PostgresLedger::connect(url).await.unwrap(), port).await;
            } else {
                receiver::run(SqliteLedger::open(url).await.unwrap(), port).await;
            }
        }
        _ => panic!("no role is called {role}"),
    }
}

/// The dispatcher of every sender.
///
/// # Panics
///
/// If the system's name servers cannot be read.
pub fn dispatcher<O: Outbox>(outbox: O) -> Dispatcher<O> {
    let vault = Vault::new([VaultKey::from_bytes("v1", &[7; 32]).unwrap()]).unwrap();
    Dispatcher::builder(outbox, vault, client())
        .schedule(schedule())
        .health(health())
        .places(64)
        .poll_every(Duration::from_millis(50))
        .build()
        .unwrap()
}

/// One that may dial this machine.
fn client() -> GuardedClient {
    let loopback = Allow::address("127.0.0.1".parse().unwrap());
    let policy = Policy::strict()
        .addresses(AddressPolicy::public().allow(loopback))
        .allow_http()
        .any_port();
    GuardedClient::builder()
        .policy(policy)
        .deadline(DEADLINE)
        .build()
        .unwrap()
}

/// Pauses so short that a delivery can live through a whole run, or die in it.
fn schedule() -> Schedule {
    let pauses = (0..ATTEMPTS - 1).map(|n| Duration::from_millis(if n < 5 { 50 } else { 400 }));
    Schedule::new(pauses).unwrap()
}

fn health() -> HealthPolicy {
    let mut policy = HealthPolicy::default();
    policy.first_pause = Duration::from_millis(100);
    policy.longest_pause = Duration::from_secs(1);
    policy
}

/// Wait for SIGTERM.
#[cfg(unix)]
async fn terminated() {
    use actix_web::rt::signal::unix::{SignalKind, signal};
    signal(SignalKind::terminate()).unwrap().recv().await;
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
