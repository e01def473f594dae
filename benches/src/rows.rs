//! `cargo xtask bench`: every row but those that count allocations.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot go on has failed, and must not print a figure"
)]

mod verify;

use std::process::ExitCode;

use webhook_benches::{Options, Report};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(fault) => {
            eprintln!("error: {fault}");
            return ExitCode::from(2);
        }
    };
    let effort = options.effort();
    let report = Report::new(options);
    verify::rows(&report, effort);
    ExitCode::SUCCESS
}
