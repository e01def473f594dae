//! model
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod delivery;
mod explore;
mod scenario;
mod state;
mod store;
mod worker;

use explore::explore;
use scenario::{Flaw, Message, Property, Scenario};
use state::{Budget, Stands, Way};

const ONCE: Budget = Budget {
    crashes: 1,
    hindrances: 1,
    shutdowns: 1,
};

fn signed(way: Way) -> Scenario {
    let message = Message {
        event: 0,
        id: 0,
        digest: None,
    };
    Scenario {
        messages: [message; 2],
        way,
        earlier: None,
        left: ONCE,
        flaws: &[],
    }
}

fn check(name: &str, scenario: &Scenario) -> Vec<Property> {
    let start = std::time::Instant::now();
    let report = explore(scenario);
    println!(
        "{name}: {} states, {} steps {:?}",
        report.states,
        report.steps,
        start.elapsed()
    );
    for (property, way) in &report.broken {
        println!("broken {property:?}:\n{way}");
    }
    report.broken.into_keys().collect()
}

#[test]
fn inbox() {
    assert_eq!(check("inbox", &signed(Way::Inbox)), []);
}

#[test]
fn inline() {
    assert_eq!(check("inline", &signed(Way::Inline)), []);
}
