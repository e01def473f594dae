//! `torture STORE SECONDS SEED PROCESSES EVIDENCE [crashes]`: what `cargo xtask torture` runs.
//!
//! Receivers are killed, stopped and cut off from their database while signed events pour in. Then all
//! is let settle and judged from outside, by SQL. With `crashes`, the line `crash` on standard output
//! asks whoever started us to crash the database server, and a line on standard input says that it
//! is back. EVIDENCE is a folder; it is deleted if there is no finding.
//!
//! `torture outbound STORE ..`: the same of senders, see [`outbound`].
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

mod chaos;
mod database;
mod journal;
mod load;
mod outbound;
mod receivers;
mod verdict;

use chaos::Chaos;
use database::Database;
use journal::Journal;
use load::Load;
use receivers::{Program, Receivers};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = &arguments[..]
        && first == "outbound"
    {
        return outbound::main(rest);
    }
    let [store, seconds, seed, processes, evidence, rest @ ..] = &arguments[..] else {
        eprintln!("usage: torture STORE SECONDS SEED PROCESSES EVIDENCE [crashes]");
        return ExitCode::from(2);
    };
    let seed: u64 = seed.parse().unwrap();
    let length = Duration::from_secs(seconds.parse().unwrap());
    std::fs::create_dir_all(evidence).unwrap();
    let journal = Journal::create(evidence.as_ref());
    let database = Database::create(store, evidence.as_ref(), seed);
    let mut receivers = Receivers::start(
        database.url(),
        Program {
            file: "victim",
            called: "receiver",
            arguments: vec![format!("seed={seed}")],
        },
        processes.parse().unwrap(),
        evidence.as_ref(),
        &journal,
    );
    database.slow_down_settling();

    let load = Load::new(seed, database.pace(), receivers.addresses(), &journal);
    let mut chaos = Chaos::new(seed, &database, !rest.is_empty(), &journal);
    let sending = load.start(Instant::now() + length);
    let began = Instant::now();
    while began.elapsed() < length {
        chaos.step(&mut receivers);
    }
    for sender in sending {
        sender.join().unwrap();
    }
    journal.note("the chaos is over");
    receivers.restart_in_order();
    load.retry_unacknowledged();
    verdict::wait_until_quiet(&database);
    receivers.stop_in_order();

    let (mut findings, effects) = verdict::judge(&database, seed, &load);
    findings.extend(load.findings());
    findings.extend(receivers.findings());
    println!(
        "torture: {store}, seed {seed}, {processes} processes, {seconds} s: {chaos}; {load}, \
         {effects} effects; {} findings",
        findings.len()
    );
    if findings.is_empty() {
        database.delete();
        let _ = std::fs::remove_dir_all(evidence);
        return ExitCode::SUCCESS;
    }
    for finding in findings.iter().take(SHOWN) {
        println!("    {finding}");
    }
    journal.note(&findings.join("\n"));
    database.keep(evidence.as_ref(), INBOX);
    println!("    evidence: {evidence}");
    ExitCode::FAILURE
}

const SHOWN: usize = 20;
const INBOX: &[&str] = &[
    "effect",
    "webhook.inbox",
    "webhook.claim",
    "webhook.quarantine",
];
