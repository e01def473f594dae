//! The test application as a process of its own, to be killed.
//!
//! `victim DATABASE_URL [ID=before|after]..`: prints its address; the handler of event ID stops for a
//! minute before or after its effect, once.
//!
//! `victim DATABASE_URL seed=SEED`: the application of [`webhook_tests::torture`]. It stops in order
//! at SIGTERM, and at once when standard input ends.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::Read as _;
use std::net::SocketAddr;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use webhook_actix::SystemClock;
use webhook_actix::ledger::Ledger;
use webhook_sqlx::{PostgresLedger, SqliteLedger};
use webhook_tests::app::{Act, Script, Tuning, run, serve};
use webhook_tests::stores::Effects;
use webhook_tests::torture::{Whims, mount};

#[actix_web::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap();
    let arguments: Vec<String> = arguments.collect();
    if url.starts_with("postgres") {
        suffer(PostgresLedger::connect(&url).await.unwrap(), &arguments).await;
    } else {
        suffer(SqliteLedger::open(&url).await.unwrap(), &arguments).await;
    }
}

async fn suffer<L: Ledger<Conn: Effects>>(ledger: L, arguments: &[String]) {
    if let [argument] = arguments
        && let Some(seed) = argument.strip_prefix("seed=")
    {
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .init();
        std::thread::spawn(|| {
            // Whoever started us is gone.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            std::process::exit(1);
        });
        let whims = Whims::new(seed.parse().unwrap());
        return run(mount(ledger, whims), announce).await;
    }
    let script = Script::default();
    for argument in arguments {
        let (id, place) = argument.split_once('=').unwrap();
        let minute = Duration::from_mins(1);
        let act = if place == "before" {
            Act::SleepBefore(minute)
        } else {
            Act::SleepAfter(minute)
        };
        script.plan(id, [act]);
    }
    let tuning = Tuning {
        lease: Duration::from_secs(3),
        inline_deadline: Duration::from_millis(2200),
        ..Tuning::default()
    };
    serve(ledger, script, SystemClock::default(), tuning, announce).await;
}

fn announce(address: SocketAddr, server: ServerHandle) {
    #[cfg(unix)]
    {
        use actix_web::rt::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).unwrap();
        actix_web::rt::spawn(async move {
            terminate.recv().await;
            server.stop(true).await;
        });
    }
    #[cfg(not(unix))]
    drop(server);
    println!("{address}");
}
