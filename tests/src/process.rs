//! The test application as a process of its own, to be killed: what the programs `victim` and `bystander` are.
//!
//! `victim DATABASE_URL [ID=before|after|fail]..`: prints its address; the handler of event ID stops for a
//! minute before or after its effect, or fails, once. With `fault=POINT:ACTION` something goes wrong at
//! a fault point, see [`crate::faults`].
//!
//! `victim DATABASE_URL seed=SEED`: the application of [`crate::torture`].
//!
//! It stops in order at SIGTERM, and at once when standard input ends. A line `quota BYTES` on standard
//! input lets no file grow beyond that, as a full disk would; `quota none` takes it back.

use std::io::BufRead as _;
use std::net::SocketAddr;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use webhook_actix::SystemClock;
use webhook_actix::ledger::Ledger;
use webhook_sqlx::{PostgresLedger, SqliteLedger};

use crate::app::{Act, Script, Tuning, run, serve};
use crate::faults;
use crate::stores::Effects;
use crate::torture::{Whims, mount};

/// Be it, as the command line says.
///
/// # Panics
///
/// If it does not come up.
pub async fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap();
    let arguments: Vec<String> = arguments.collect();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    if url.starts_with("postgres") {
        suffer(PostgresLedger::connect(&url).await.unwrap(), &arguments).await;
    } else {
        suffer(SqliteLedger::open(&url).await.unwrap(), &arguments).await;
    }
}

async fn suffer<L: Ledger<Conn: Effects>>(ledger: L, arguments: &[String]) {
    std::thread::spawn(obey);
    if let [argument] = arguments
        && let Some(seed) = argument.strip_prefix("seed=")
    {
        let whims = Whims::new(seed.parse().unwrap());
        return run(mount(ledger, whims), announce).await;
    }
    let script = Script::default();
    for argument in arguments {
        let minute = Duration::from_mins(1);
        let (id, act) = match argument.split_once('=').unwrap() {
            ("fault", words) => {
                if !faults::arm(words) {
                    println!("there are no fault points");
                }
                continue;
            }
            (id, "before") => (id, Act::SleepBefore(minute)),
            (id, "fail") => (id, Act::Fail),
            (id, _) => (id, Act::SleepAfter(minute)),
        };
        script.plan(id, [act]);
    }
    let tuning = Tuning {
        lease: Duration::from_secs(3),
        inline_deadline: Duration::from_millis(2200),
        acknowledge_within: Duration::from_millis(2200),
        ..Tuning::default()
    };
    serve(ledger, script, SystemClock::default(), tuning, announce).await;
}

/// Orders come by standard input. When it ends, whoever started us is gone.
fn obey() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("quota", bytes)) => quota(bytes.parse().ok()),
            _ => panic!("no order: {line}"),
        }
    }
    std::process::exit(1);
}

#[cfg(unix)]
fn quota(bytes: Option<u64>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Fsize).maximum;
    let current = bytes.or(maximum);
    setrlimit(Resource::Fsize, Rlimit { current, maximum }).unwrap();
    println!("quota set");
}

#[cfg(not(unix))]
fn quota(_bytes: Option<u64>) {
    panic!("not on this system");
}

fn announce(address: SocketAddr, server: ServerHandle) {
    #[cfg(unix)]
    {
        use actix_web::rt::signal::unix::{SignalKind, signal};
        // Over its quota a process is ended, unless it handles this: then its writes fail.
        let mut excess = signal(SignalKind::from_raw(SIGXFSZ)).unwrap();
        actix_web::rt::spawn(async move { while excess.recv().await.is_some() {} });
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

/// On Linux and macOS alike.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;
