//! `torture outbound STORE SECONDS SEED PROCESSES EVIDENCE [crashes]`: senders and a receiver killed, stopped and
//! cut off while events go out, also to endpoints in all kinds of trouble.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use webhook_core::outbox::{Filter, Outbox};
use webhook_dispatch::NewEndpoint;
use webhook_sqlx::{PostgresOutbox, SqliteOutbox};
use webhook_tests::outbound::{ORDERED, RECEIVED_AT, SECRET, TROUBLED, dispatcher};

use crate::SHOWN;
use crate::database::Database;
use crate::journal::Journal;
use crate::receivers::{Program, Receivers};

mod chaos;
mod sinks;
mod verdict;

use chaos::Chaos;
use sinks::Sinks;

pub(crate) fn main(arguments: &[String]) -> ExitCode {
    let [store, seconds, seed, processes, evidence, rest @ ..] = arguments else {
        eprintln!("usage: torture outbound STORE SECONDS SEED PROCESSES EVIDENCE [crashes]");
        return ExitCode::from(2);
    };
    let seed: u64 = seed.parse().unwrap();
    let length = Duration::from_secs(seconds.parse().unwrap());
    let folder = |name: &str| std::path::Path::new(evidence).join(name);
    for name in ["shop", "customer"] {
        std::fs::create_dir_all(folder(name)).unwrap();
    }
    let journal = Journal::create(evidence.as_ref());
    let shop = Database::create(store, &folder("shop"), seed);
    let customer = Database::create(store, &folder("customer"), seed.wrapping_add(1));
    shop.execute(COUNTERS).unwrap();

    let sinks = Sinks::start(seed);
    let port = free_port();
    let receiver = Program {
        file: "halves",
        called: "customer",
        arguments: vec!["receiver".to_owned(), format!("port={port}")],
    };
    let evidence_of = |program, database: &Database, count, name| {
        Receivers::start(database.url(), program, count, &folder(name), &journal)
    };
    let mut receiver = evidence_of(receiver, &customer, 1, "customer");
    register(&shop, port, &sinks);
    let sender = Program {
        file: "halves",
        called: "shop",
        arguments: vec!["sender".to_owned(), format!("seed={seed}")],
    };
    let mut senders = evidence_of(sender, &shop, processes.parse().unwrap(), "shop");

    let mut chaos = Chaos::new(seed, &shop, &customer, !rest.is_empty(), &journal);
    let began = Instant::now();
    while began.elapsed() < length {
        chaos.step(&mut senders, &mut receiver);
    }
    journal.note("the chaos is over");
    sinks.heal();
    receiver.restart_in_order();
    senders.restart_in_order();
    // They go on changing things while they catch up with what was left behind.
    thread::sleep(Duration::from_secs(3));
    senders.stop_in_order();
    let drain = Drain::start(&shop);
    verdict::wait_until_quiet(&shop, &customer);
    drain.stop();
    receiver.stop_in_order();

    let (mut findings, count) = verdict::judge(&shop, &customer, &sinks);
    findings.extend(senders.findings());
    findings.extend(receiver.findings());
    println!(
        "torture outbound: {store}, seed {seed}, {processes} processes, {seconds} s: {chaos}; {count}; {} findings",
        findings.len()
    );
    if findings.is_empty() {
        shop.delete();
        customer.delete();
        let _ = std::fs::remove_dir_all(evidence);
        return ExitCode::SUCCESS;
    }
    for finding in findings.iter().take(SHOWN) {
        println!("    {finding}");
    }
    journal.note(&findings.join("\n"));
    shop.keep(&folder("shop"), OUTBOX);
    customer.keep(&folder("customer"), crate::INBOX);
    println!("    evidence: {evidence}");
    ExitCode::FAILURE
}

/// A dispatcher of our own, that sends what the others left when they stopped.
struct Drain(Box<dyn FnOnce()>);

impl Drain {
    fn start(shop: &Database) -> Self {
        if shop.is_postgres() {
            Self::over(
                |url| Box::pin(async move { PostgresOutbox::connect(&url).await.unwrap() }),
                shop,
            )
        } else {
            Self::over(
                |url| Box::pin(async move { SqliteOutbox::open(&url).await.unwrap() }),
                shop,
            )
        }
    }

    fn over<O: Outbox>(
        open: impl FnOnce(String) -> std::pin::Pin<Box<dyn Future<Output = O>>>,
        shop: &Database,
    ) -> Self {
        let runtime = runtime();
        let dispatcher = runtime.block_on(async {
            let dispatcher = dispatcher(open(shop.url()).await);
            dispatcher.start().await.unwrap();
            dispatcher
        });
        Self(Box::new(move || runtime.block_on(dispatcher.shutdown())))
    }

    fn stop(self) {
        (self.0)();
    }
}

/// One endpoint a tenant for each path of the receiver, one that is ordered, and those in trouble.
fn register(shop: &Database, port: u16, sinks: &Sinks) {
    let runtime = runtime();
    if shop.is_postgres() {
        let outbox = runtime
            .block_on(PostgresOutbox::connect(&shop.url()))
            .unwrap();
        runtime.block_on(register_in(outbox, port, sinks));
    } else {
        let outbox = runtime.block_on(SqliteOutbox::open(&shop.url())).unwrap();
        runtime.block_on(register_in(outbox, port, sinks));
    }
}

async fn register_in<O: Outbox>(outbox: O, port: u16, sinks: &Sinks) {
    outbox.prepare().await.unwrap();
    let endpoints = dispatcher(outbox.clone()).endpoints();
    let register = async |tenant: &str, url: String, is_ordered| {
        let new = NewEndpoint::new(tenant, url, Filter::all()).secret(SECRET);
        let new = if is_ordered { new.ordered() } else { new };
        endpoints.register(new).await.unwrap();
    };
    for path in RECEIVED_AT {
        register(path, format!("http://127.0.0.1:{port}{path}"), false).await;
    }
    register(ORDERED, sinks.url("/ordered"), true).await;
    for path in sinks::TROUBLES {
        register(TROUBLED, sinks.url(path), false).await;
    }
    register(TROUBLED, REFUSES.to_owned(), false).await;
    outbox.close().await;
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// One that is free now, and stays so for whoever is started again on it.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listener.local_addr().unwrap().port()
}

/// Nobody listens there.
const REFUSES: &str = "http://127.0.0.1:1/refuses";

const COUNTERS: &str = "
create table counter (key text primary key, nth bigint not null);
insert into counter values ('o0', 0), ('o1', 0), ('o2', 0), ('o3', 0);";

const OUTBOX: &[&str] = &[
    "effect",
    "webhook.outbox_event",
    "webhook.outbox_endpoint",
    "webhook.outbox_delivery",
    "webhook.outbox_attempt",
];
