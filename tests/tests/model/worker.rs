//! A worker: take, run in a transaction, complete or record.

use crate::scenario::{Flaw, Scenario};
use crate::state::{
    Lease, MAX_CRASHES, MAX_FAILURES, Next, On, Outcome, Stage, Stands, State, Tx, Who, Worker,
};

/// What worker `me` can do, and what can be done to it.
pub(crate) fn steps(scenario: &Scenario, me: usize, next: &mut Next<'_>) {
    let state = next.from;
    match state.workers[me] {
        // For the store to move.
        Worker::Committing(_) => {}
        Worker::Down => next.step(Who::Fate, "starts the process again", |state| {
            state.workers[me] = Worker::Idle;
        }),
        Worker::Idle => {
            for row in (0..)
                .zip(&state.rows)
                .filter_map(|(at, row)| row.map(|_| at))
            {
                take(scenario, me, row, next);
            }
        }
        Worker::Recording(lease, outcome) => record(scenario, me, lease, outcome, next),
        Worker::Running(lease) => run(scenario, me, lease, next),
        Worker::Unsure(lease) => resolve(me, lease, next),
    }
    if state.workers[me] != Worker::Down && state.left.crashes > 0 {
        let what = ["kills process 0", "kills process 1"][me];
        next.step(Who::Fate, what, |state| {
            state.left.crashes -= 1;
            state.workers[me] = Worker::Down;
            if state.open[me].is_some_and(|tx| tx.stage < Stage::Sent) {
                state.open[me] = None;
            }
        });
    }
}

/// One statement. A row locked by a transaction is skipped.
fn take(scenario: &Scenario, me: usize, at: usize, next: &mut Next<'_>) {
    let row = next.from.row(at);
    if scenario.is_locked(next.from, at, None) {
        return;
    }
    let (what, has_crashed) = match row.stands {
        Stands::Pending => ("takes the event", false),
        Stands::Processing { is_live: false } => ("takes the event over", true),
        _ => return,
    };
    next.step(Who::Worker(me), what, |state| {
        let token = state.fresh_token();
        let row = state.row_mut(at);
        row.token = Some(token);
        let is_counted = has_crashed && !scenario.has(Flaw::CrashesUncounted);
        if is_counted && row.crashes == MAX_CRASHES {
            row.stands = Stands::Dead;
            return;
        }
        row.crashes += u8::from(is_counted);
        row.stands = Stands::Processing { is_live: true };
        state.workers[me] = Worker::Running(Lease { row: at, token });
    });
}

fn run(scenario: &Scenario, me: usize, lease: Lease, next: &mut Next<'_>) {
    let who = Who::Worker(me);
    let leave = |state: &mut State, worker| {
        state.open[me] = None;
        state.workers[me] = worker;
    };
    let stage = match next.from.open[me] {
        // The end of an earlier transaction of this worker's has not come: it waits for it.
        Some(tx) if tx.stage == Stage::Sent => return,
        tx => tx.map(|tx| tx.stage),
    };
    match stage {
        None if Scenario::is_held(next.from, lease) => {
            next.step(who, "begins a transaction", |state| {
                state.open[me] = Some(Tx {
                    on: On::Row(lease.row),
                    token: lease.token,
                    stage: Stage::Open,
                });
            });
        }
        None => next.step(who, "finds the lease lost at the beginning", |state| {
            leave(state, Worker::Idle);
        }),
        Some(Stage::Open) => next.step(who, "writes the effect", |state| {
            if scenario.has(Flaw::EffectCommitsFirst) {
                let event = state.row(lease.row).event;
                state.effects[event] = (state.effects[event] + 1).min(2);
            }
            advance(state, me, Stage::Effect);
        }),
        Some(Stage::Effect) => complete(scenario, me, lease, next),
        Some(_) => {
            next.step(who, "asks for the commit", |state| {
                advance(state, me, Stage::Sent);
                state.workers[me] = Worker::Committing(lease);
            });
            return;
        }
    }
    next.step(who, "fails, and rolls back", |state| {
        leave(state, Worker::Recording(lease, Outcome::Failed));
    });
    next.step(
        who,
        "gives the lease up: lost, or not renewed in time",
        |state| {
            leave(state, Worker::Idle);
        },
    );
    hinder(
        scenario,
        next,
        "lets the handler meet contention",
        |state| {
            leave(state, Worker::Recording(lease, Outcome::Hindered));
        },
    );
    if next.from.left.shutdowns > 0 {
        next.step(Who::Fate, "shuts the process down", |state| {
            state.left.shutdowns -= 1;
            leave(state, Worker::Recording(lease, Outcome::HandedBack));
        });
    }
}

/// The guarded completion, last statement of the transaction.
fn complete(scenario: &Scenario, me: usize, lease: Lease, next: &mut Next<'_>) {
    if scenario.is_locked(next.from, lease.row, Some(me)) {
        return;
    }
    let row = next.from.row(lease.row);
    let has_token = row.token == Some(lease.token);
    let is_live = row.stands == Stands::Processing { is_live: true };
    let is_late = row.stands == Stands::Processing { is_live: false };
    if (has_token || scenario.has(Flaw::CompletesAnyToken))
        && (is_live || is_late && scenario.has(Flaw::CompletesLate))
    {
        next.step(
            Who::Worker(me),
            "completes the event, not committed yet",
            |state| {
                state.was_late |= is_late;
                advance(state, me, Stage::Completed);
            },
        );
    } else {
        next.step(
            Who::Worker(me),
            "finds the lease lost, and rolls back",
            |state| {
                state.open[me] = None;
                state.workers[me] = Worker::Idle;
            },
        );
    }
}

/// After a commit without answer.
fn resolve(me: usize, lease: Lease, next: &mut Next<'_>) {
    let row = next.from.row(lease.row);
    let hindered = Worker::Recording(lease, Outcome::Hindered);
    let (what, worker) = if next.from.open[me].is_some() {
        ("stops waiting for the end of its commit", hindered)
    } else if row.stands == Stands::Completed && row.token == Some(lease.token) {
        ("reads that its commit took place", Worker::Idle)
    } else {
        ("reads that its commit did not take place", hindered)
    };
    next.step(Who::Worker(me), what, |state| state.workers[me] = worker);
}

/// A guarded write of its own.
fn record(scenario: &Scenario, me: usize, lease: Lease, outcome: Outcome, next: &mut Next<'_>) {
    let who = Who::Worker(me);
    if scenario.is_locked(next.from, lease.row, None) {
        next.step(who, "waits in vain for the row it must write", |state| {
            state.workers[me] = Worker::Idle;
        });
        return;
    }
    let what = match outcome {
        Outcome::Failed => "records a failure, if the lease holds",
        Outcome::HandedBack => "hands the event back, if the lease holds",
        Outcome::Hindered => "puts the event back, if the lease holds",
    };
    let is_held = Scenario::is_held(next.from, lease);
    next.step(who, what, |state| {
        state.workers[me] = Worker::Idle;
        if is_held {
            let row = state.row_mut(lease.row);
            if outcome == Outcome::Failed {
                row.failures = (row.failures + 1).min(MAX_FAILURES);
            }
            let is_dead = outcome == Outcome::Failed && row.failures == MAX_FAILURES;
            row.stands = if is_dead {
                Stands::Dead
            } else {
                Stands::Pending
            };
        }
    });
}

/// Something may go wrong that is not counted against the event.
pub(crate) fn hinder(
    scenario: &Scenario,
    next: &mut Next<'_>,
    what: &'static str,
    change: impl FnOnce(&mut State),
) {
    let is_endless = scenario.has(Flaw::HindrancesNeverEnd);
    if next.from.left.hindrances > 0 || is_endless {
        next.step(Who::Fate, what, |state| {
            state.left.hindrances -= u8::from(!is_endless);
            change(state);
        });
    }
}

pub(crate) fn advance(state: &mut State, owner: usize, stage: Stage) {
    if let Some(tx) = &mut state.open[owner] {
        tx.stage = stage;
    }
}
