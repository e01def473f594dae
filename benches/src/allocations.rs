//! V7: heap allocations between a request's head and authentic bytes.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot go on has failed, and must not print a figure"
)]

use std::alloc::System;
use std::hint::black_box;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use webhook_actix::SystemClock;
use webhook_benches::{Delivery, Measure, Options, Ratio, Report, SECRETS, verify};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(fault) => {
            eprintln!("error: {fault}");
            return ExitCode::from(2);
        }
    };
    Report::new(options).row("V7", || Measure::Is(Ratio::exact(per_verify())));
    ExitCode::SUCCESS
}

/// With one key, two candidates and a body that arrives as one chunk.
fn per_verify() -> f64 {
    const RUNS: u32 = 100;
    const DECOYS: usize = 1;
    let region = Region::new(ALLOCATOR);
    black_box(Box::new(0u8));
    assert_eq!(region.change().allocations, 1, "the allocator counts");
    let clock = SystemClock::default();
    let delivery = Delivery::new(&clock, 2048, &SECRETS[..1], DECOYS);
    let head = delivery.head().expect("a head");
    let region = Region::new(ALLOCATOR);
    for _ in 0..RUNS {
        let verified = verify(&clock, &delivery.keys, &head, delivery.body.clone());
        black_box(verified.expect("authentic"));
    }
    let change = region.change();
    let count = change.allocations.saturating_add(change.reallocations);
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / f64::from(RUNS)
}
