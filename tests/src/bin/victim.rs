//! The test application as a process of its own, to be killed.
//!
//! `victim DATABASE_URL [ID=before|after]..`: prints its address; the handler of event ID stops for a
//! minute before or after its effect, once.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::time::Duration;

use webhook_actix::SystemClock;
use webhook_sqlx::{PostgresLedger, SqliteLedger};
use webhook_tests::app::{Act, Script, Tuning, serve};

#[actix_web::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap();
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
        inline_deadline: Duration::from_millis(2900),
        ..Tuning::default()
    };
    let announce = |address, _server| println!("{address}");
    let clock = SystemClock::default();
    if url.starts_with("postgres") {
        serve(
            PostgresLedger::connect(&url).await.unwrap(),
            script,
            clock,
            tuning,
            announce,
        )
        .await;
    } else {
        serve(
            SqliteLedger::open(&url).await.unwrap(),
            script,
            clock,
            tuning,
            announce,
        )
        .await;
    }
}
