//! A model of the state table in `ARCHITECTURE.md`, explored to the end: two workers, two deliveries
//! of one event, a crash.
//!
//! A state is what the store's tables hold and where every worker and request stands between two
//! statements. From each state every statement that somebody could send next is a step of its own,
//! and so is all that can come between: a lease runs out, a process is killed, a commit lands without
//! an answer or an answer without its commit, a request dies, a provider sends again. The explorer
//! visits every state that can be reached, in whatever order all this happens.
//!
//! - **Safety** holds in every state: see the first four of [`Property`].
//! - **Liveness** holds in every *fair* run: a process that is up goes on, a lease that nobody renews
//!   runs out, a commit that was asked for ends, no due row is passed over for ever (the one due first
//!   is taken first). Nothing else is relied on: a killed process may stay down, a provider may never
//!   retry. Contention, broken connections and shutdowns count against no event, so there must be an
//!   end of them: [`Budget`] has one.
//!
//! What the model leaves out, because nothing it proves depends on it: time (that a lease or a pause
//! ends is a step; that a heartbeat renews it is the absence of that step), payloads, replies, event
//! types, pruning, operators. On SQLite one writer at a time holds the file from the beginning of its
//! transaction to its end: of the orders explored here, some cannot happen there. Out of its reach:
//! handlers that end their transaction themselves, and effects outside the database.
//!
//! That the model can fail is shown by breaking the design, one rule at a time. What each rule is
//! for, by what breaks without it:
//!
//! | without it | two effects | lost | stale write | late write | never settles |
//! |---|---|---|---|---|---|
//! | the completion locks the row until the commit | ✗ | | ✗ | | |
//! | effect and completion in one transaction | ✗ | | | | |
//! | the digest of the content as second claim key | ✗ | | | | |
//! | the completion compares the token | | | ✗ | | |
//! | the completion looks at the end of the lease | | | | ✗ | |
//! | the claim before the answer | | ✗ | | | ✗ |
//! | a claim key without a row is not held | | ✗ | | | ✗ |
//! | a lost inline lease is not acknowledged | | ✗ | | | ✗ |
//! | a lease that ran out is counted | | | | | ✗ |
//! | an end of contention and shutdowns | | | | | ✗ |
//!
//! So what keeps the effect single is the transaction and its lock on a row that must still be
//! processing. Token and lease keep an attempt that was given up from speaking for its successor.
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::time::Instant;

mod delivery;
mod explore;
mod scenario;
mod state;
mod step;
mod store;
mod worker;

use explore::explore;
use scenario::{Flaw, Message, Property, Scenario};
use state::{Budget, Mode, Stands};

#[test]
fn two_workers_two_deliveries_and_a_crash_have_one_effect() {
    let taken = holds(SIGNED);
    for kind in [
        "is killed",
        "lands",
        "is refused",
        "runs out",
        "takes the event over, or buries it",
        "finds the lease lost and begins nothing",
        "finds the lease lost and rolls back",
        "finds the lease lost and records nothing",
        "hands the event back, uncounted",
        "records a failure",
        "waits in vain for the row it must write",
        "reads that its commit took place",
        "reads that its commit did not take place",
        "revives a dead event",
    ] {
        assert!(taken.contains(&kind), "never {kind}");
    }
}

#[test]
fn inline_deliveries_that_fall_back_have_one_effect() {
    let taken = holds(INLINE);
    for kind in [
        "claims its event in a transaction",
        "loses its claim and rolls back",
        "fails, rolls back, and falls back to the inbox",
        "finds its lease run out and rolls back",
        "stops waiting for the end of its commit",
        "takes the event over, or buries it",
        "revives a dead event",
    ] {
        assert!(taken.contains(&kind), "never {kind}");
    }
}

#[test]
fn a_replay_under_a_new_id_has_no_effect_of_its_own() {
    let taken = holds(UNSIGNED);
    assert!(taken.contains(&"deletes an orphan"));
    assert!(taken.contains(&"must claim again"));
}

#[test]
fn inline_a_replay_under_a_new_id_has_no_effect_of_its_own() {
    holds(Scenario {
        mode: Mode::Inline,
        ..UNSIGNED
    });
}

#[test]
fn a_half_won_claim_does_not_block_the_owner_of_the_id() {
    let taken = holds(HALF_WON);
    assert!(taken.contains(&"deletes an orphan"));
    assert!(taken.contains(&"must claim again"));
}

/// A limit of the rule table, not a mistake: nothing tells the first bearer of an unsigned id from
/// its owner. It needs signed content that was never delivered, and an id before its owner bears it.
#[test]
fn an_id_stolen_before_its_owner_came_sends_the_owner_to_quarantine() {
    let stolen = Scenario {
        earlier: None,
        ..HALF_WON
    };
    assert_eq!(broken(stolen), [Property::Kept, Property::Settles]);
}

#[test]
fn ids_alone_let_a_replay_run() {
    let ids_alone = Scenario {
        messages: UNSIGNED.messages.map(|message| Message {
            digest: None,
            ..message
        }),
        workers: 1,
        left: NOTHING,
        ..UNSIGNED
    };
    assert_eq!(broken(ids_alone), [Property::OneEffect]);
}

#[test]
fn a_completion_that_ignores_the_token_lets_a_stale_worker_write() {
    let flawed = flawed(SIGNED, &[Flaw::CompletesAnyToken]);
    assert_eq!(broken(flawed), [Property::Fenced]);
}

#[test]
fn a_completion_that_ignores_the_lease_lets_a_late_worker_write() {
    let flawed = flawed(SIGNED, &[Flaw::CompletesLate]);
    assert_eq!(broken(flawed), [Property::Timely]);
}

#[test]
fn even_without_token_and_lease_the_locked_row_keeps_the_effect_single() {
    let flawed = Scenario {
        flaws: &[Flaw::CompletesAnyToken, Flaw::CompletesLate],
        ..SIGNED
    };
    assert_eq!(broken(flawed), [Property::Fenced, Property::Timely]);
}

#[test]
fn a_commit_delayed_after_a_guard_that_locks_nothing_doubles_the_effect() {
    // With every check in place.
    let read = flawed(SIGNED, &[Flaw::GuardLocksNothing]);
    assert_eq!(broken(read), [Property::OneEffect, Property::Fenced]);
}

#[test]
fn a_commit_delayed_after_a_guard_that_ignores_the_lease_doubles_the_effect() {
    let flawed = flawed(SIGNED, &[Flaw::GuardLocksNothing, Flaw::CompletesLate]);
    assert_eq!(
        broken(flawed),
        [Property::OneEffect, Property::Fenced, Property::Timely]
    );
}

#[test]
fn an_effect_committed_before_the_completion_is_doubled() {
    let flawed = flawed(SIGNED, &[Flaw::EffectCommitsFirst]);
    assert_eq!(broken(flawed), [Property::OneEffect]);
}

#[test]
fn an_answer_before_the_claim_loses_the_event() {
    let flawed = flawed(SIGNED, &[Flaw::AnswersFirst]);
    assert_eq!(broken(flawed), [Property::Kept, Property::Settles]);
}

#[test]
fn an_orphan_that_counts_as_holding_loses_the_event() {
    let flawed = flawed(HALF_WON, &[Flaw::OrphansCount]);
    assert_eq!(broken(flawed), [Property::Kept, Property::Settles]);
}

#[test]
fn a_lost_inline_lease_that_is_acknowledged_loses_the_event() {
    let flawed = flawed(INLINE, &[Flaw::AcknowledgesLostInline]);
    assert_eq!(broken(flawed), [Property::Kept, Property::Settles]);
}

#[test]
fn an_event_whose_crashes_are_not_counted_runs_for_ever() {
    let flawed = flawed(SIGNED, &[Flaw::CrashesUncounted]);
    assert_eq!(broken(flawed), [Property::Settles]);
}

/// Contention is counted against no event: the price is that endless contention is endless retries.
#[test]
fn an_event_that_always_meets_contention_runs_for_ever() {
    let flawed = flawed(SIGNED, &[Flaw::HindrancesNeverEnd]);
    assert_eq!(broken(flawed), [Property::Settles]);
}

const SIGNED: Scenario = Scenario {
    messages: [Message {
        event: 0,
        id: 0,
        digest: None,
    }; 2],
    mode: Mode::Inbox,
    earlier: None,
    workers: 2,
    left: Budget {
        crashes: 1,
        hindrances: 1,
    },
    flaws: &[],
};

const NOTHING: Budget = Budget {
    crashes: 0,
    hindrances: 0,
};

const INLINE: Scenario = Scenario {
    mode: Mode::Inline,
    ..SIGNED
};

/// An event whose id is not signed, so that its content is claimed too.
const X: Message = Message {
    event: 0,
    id: 0,
    digest: Some(2),
};

/// Another such event.
const Y: Message = Message {
    event: 1,
    id: 1,
    digest: Some(3),
};

/// The captured content of `X` under the id of `Y`.
const REPLAY: Message = Message { id: Y.id, ..X };

const UNSIGNED: Scenario = Scenario {
    messages: [X, REPLAY],
    left: Budget {
        crashes: 1,
        hindrances: 0,
    },
    ..SIGNED
};

/// The replay wins the id of `Y` only, and may leave it an orphan, while `Y` itself comes. One worker
/// is enough to run what was won; requests die as ever.
const HALF_WON: Scenario = Scenario {
    messages: [REPLAY, Y],
    earlier: Some((X, &[Stands::Completed, Stands::Dead, Stands::Pending])),
    workers: 1,
    left: NOTHING,
    ..SIGNED
};

/// A scenario with mistakes. A worker that stalls is enough to show them: nothing needs to crash.
fn flawed(scenario: Scenario, flaws: &'static [Flaw]) -> Scenario {
    Scenario {
        left: NOTHING,
        flaws,
        ..scenario
    }
}

/// Explore a scenario in which every property must hold. The kinds of steps that were taken.
#[track_caller]
fn holds(scenario: Scenario) -> Vec<&'static str> {
    let (broken, taken) = run(scenario);
    assert_eq!(broken, []);
    taken
}

/// Explore a scenario. The properties that do not hold in it.
fn broken(scenario: Scenario) -> Vec<Property> {
    run(scenario).0
}

fn run(scenario: Scenario) -> (Vec<Property>, Vec<&'static str>) {
    let began = Instant::now();
    let report = explore(&scenario);
    let (states, steps, time) = (report.states, report.steps, began.elapsed());
    println!("{states} states, {steps} steps in {time:.1?}");
    for (property, way) in &report.broken {
        println!("{property:?} does not hold:\n{way}");
    }
    let broken = report.broken.into_keys().collect();
    (broken, report.taken.into_iter().collect())
}
