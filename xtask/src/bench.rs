//! `cargo xtask bench`: our figures beside peers and limits, see `BENCHMARKS.md`.

use std::ffi::OsString;

use crate::command::{cargo, run as run_step};
use crate::failure::Failure;

/// Build the benchmarks as they would ship and run the rows that `arguments` name, or all.
///
/// The benchmarks read the rest of the command line themselves: `[ROW..] [--quick] [--json]`.
///
/// # Errors
///
/// Fails if a benchmark cannot be built or run. A goal that is not met is no failure: the machine may
/// be busy, and `BENCHMARKS.md` says which are met.
pub(crate) fn run(arguments: &[OsString]) -> Result<(), Failure> {
    let mut bench = cargo([
        "bench",
        "--locked",
        "--package",
        "webhook-benches",
        "--benches",
        "--",
    ]);
    bench.args(arguments);
    run_step(&mut bench)
}
