//! `cargo xtask bench`: every row but those that count allocations.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot go on has failed, and must not print a figure"
)]

mod by_hand;
mod callgrind;
mod claims;
mod contest;
mod database;
mod dequeue;
mod events;
mod growth;
mod http;
mod load;
mod nothing;
mod outbound;
mod served;
mod server;
mod sqlite;
mod storing;
mod timings;
mod verify;

use std::process::ExitCode;

use webhook_benches::{Options, Report};

use crate::database::Databases;
use crate::server::Server;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = &words[..]
        && flag == callgrind::SERVE
    {
        serve(name);
        return ExitCode::SUCCESS;
    }
    let options = match Options::parse(words) {
        Ok(options) => options,
        Err(fault) => {
            eprintln!("error: {fault}");
            return ExitCode::from(2);
        }
    };
    let effort = options.effort();
    let report = Report::new(options);
    verify::rows(&report, effort);
    http::rows(&report, effort);
    let databases = Databases::new();
    claims::rows(&report, effort, &databases);
    sqlite::rows(&report, effort, databases.runtime());
    served::rows(&report, effort, &databases);
    dequeue::rows(&report, effort, &databases);
    growth::rows(&report, effort, &databases);
    outbound::rows(&report, effort, &databases);
    ExitCode::SUCCESS
}

/// Be the server of this name until standard input ends.
fn serve(name: &str) {
    let server = Server::ALL.into_iter().find(|server| server.name() == name);
    let server = server.expect("the name of a server").start();
    println!("{}", server.address());
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("standard input");
}
