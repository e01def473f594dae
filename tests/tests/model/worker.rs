//! A worker: take, run in a transaction, complete or record.

use crate::scenario::{Flaw, Scenario};
use crate::state::{
    FRESH, Lease, MAX_CRASHES, MAX_FAILURES, On, Outcome, Stage, Stands, State, Tx, Worker,
};
use crate::step::{Next, Who};

/// What worker `me` can do, and what can be done to it.
pub(crate) fn steps(scenario: &Scenario, me: usize, next: &mut Next<'_>) {
    if me >= scenario.workers {
        return;
    }
    let who = Who::Worker(me);
    match next.from.workers[me] {
        // The store moves.
        Worker::Committing(_) => {}
        Worker::Down => {
            return next.chance(who, "starts again", |state| {
                state.workers[me] = Worker::Idle;
            });
        }
        Worker::Idle => {
            for row in (0..)
                .zip(&next.from.rows)
                .filter_map(|(at, row)| row.map(|_| at))
            {
                take(scenario, me, row, next);
            }
        }
        Worker::Recording(lease, outcome) => record(scenario, me, lease, outcome, next),
        Worker::Running(lease) => run(scenario, me, lease, next),
        Worker::Unsure(lease) => resolve(me, lease, next),
    }
    if next.from.left.crashes > 0 {
        next.chance(who, "is killed", |state| {
            state.left.crashes -= 1;
            state.workers[me] = Worker::Down;
            roll_back(state, me);
        });
    }
}

/// One statement. A row that a transaction has locked is skipped.
fn take(scenario: &Scenario, me: usize, at: usize, next: &mut Next<'_>) {
    let row = next.from.row(at);
    if scenario.is_locked(next.from, at, None) {
        return;
    }
    let (what, has_crashed) = match row.stands {
        Stands::Pending => ("takes the event", false),
        Stands::Processing { is_live: false } => ("takes the event over, or buries it", true),
        _ => return,
    };
    next.take(me, at, what, |state| {
        let row = state.row_mut(at);
        row.token = Some(FRESH);
        let is_counted = has_crashed && !scenario.has(Flaw::CrashesUncounted);
        if is_counted && row.crashes == MAX_CRASHES {
            row.stands = Stands::Dead;
            return;
        }
        row.crashes += u8::from(is_counted);
        row.stands = Stands::Processing { is_live: true };
        let (row, token) = (at, FRESH);
        state.workers[me] = Worker::Running(Lease { row, token });
    });
}

/// The attempt, and every way in which it can end before its commit is asked for.
fn run(scenario: &Scenario, me: usize, lease: Lease, next: &mut Next<'_>) {
    let who = Who::Worker(me);
    match next.from.open[me].map(|tx| tx.stage) {
        None if next.from.is_held(lease) => next.step(who, "begins a transaction", |state| {
            state.open[me] = Some(Tx {
                on: On::Row(lease.row),
                token: lease.token,
                stage: Stage::Open,
            });
        }),
        None => next.step(who, "finds the lease lost and begins nothing", |state| {
            state.workers[me] = Worker::Idle;
        }),
        Some(Stage::Open) => next.step(who, "writes the effect", |state| {
            if scenario.has(Flaw::EffectCommitsFirst) {
                state.count_effect(state.row(lease.row).event);
            }
            state.advance(me, Stage::Effect);
        }),
        Some(Stage::Effect) => complete(scenario, me, lease, next),
        Some(Stage::Completed) => {
            return next.step(who, "asks for the commit", |state| {
                state.advance(me, Stage::Sent);
                state.workers[me] = Worker::Committing(lease);
            });
        }
        // An earlier commit of this worker's has not ended: its place is taken until then.
        Some(Stage::Sent) => return,
    }
    let mut end = |what, worker| {
        next.step(who, what, |state| {
            state.workers[me] = worker;
            roll_back(state, me);
        });
    };
    end(
        "fails and rolls back",
        Worker::Recording(lease, Outcome::Failed),
    );
    end(
        "gives up a lease that is lost, or not renewed in time",
        Worker::Idle,
    );
    hinder(
        scenario,
        who,
        "meets contention, or a shutdown",
        next,
        |state| {
            state.workers[me] = Worker::Recording(lease, Outcome::Hindered);
            roll_back(state, me);
        },
    );
}

/// The guarded completion, the last statement of the transaction.
fn complete(scenario: &Scenario, me: usize, lease: Lease, next: &mut Next<'_>) {
    if scenario.is_locked(next.from, lease.row, Some(me)) {
        return;
    }
    let row = next.from.row(lease.row);
    let has_token = row.token == Some(lease.token);
    let is_late = row.stands == Stands::Processing { is_live: false };
    let is_let_through = match row.stands {
        Stands::Processing { is_live } => {
            (has_token || scenario.has(Flaw::CompletesAnyToken))
                && (is_live || scenario.has(Flaw::CompletesLate))
        }
        _ => false,
    };
    let who = Who::Worker(me);
    if is_let_through {
        next.step(who, "completes the event, not committed yet", |state| {
            state.was_late |= is_late;
            state.advance(me, Stage::Completed);
        });
    } else {
        next.step(who, "finds the lease lost and rolls back", |state| {
            state.workers[me] = Worker::Idle;
            roll_back(state, me);
        });
    }
}

/// After a commit whose answer was lost: read the row again.
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
        return next.step(who, "waits in vain for the row it must write", |state| {
            state.workers[me] = Worker::Idle;
        });
    }
    if !next.from.is_held(lease) {
        return next.step(who, "finds the lease lost and records nothing", |state| {
            state.workers[me] = Worker::Idle;
        });
    }
    let what = match outcome {
        Outcome::Failed => "records a failure",
        Outcome::Hindered => "hands the event back, uncounted",
    };
    next.step(who, what, |state| {
        state.workers[me] = Worker::Idle;
        let row = state.row_mut(lease.row);
        row.stands = Stands::Pending;
        if outcome == Outcome::Failed {
            row.failures = (row.failures + 1).min(MAX_FAILURES);
            if row.failures == MAX_FAILURES {
                row.stands = Stands::Dead;
            }
        }
    });
}

/// What is not counted against the event may happen to `who` while the budget lasts.
pub(crate) fn hinder(
    scenario: &Scenario,
    who: Who,
    what: &'static str,
    next: &mut Next<'_>,
    change: impl FnOnce(&mut State),
) {
    let is_endless = scenario.has(Flaw::HindrancesNeverEnd);
    if next.from.left.hindrances > 0 || is_endless {
        next.chance(who, what, |state| {
            state.left.hindrances -= u8::from(!is_endless);
            change(state);
        });
    }
}

/// Roll back what `owner` has open. Once the commit is asked for that is the store's affair.
pub(crate) fn roll_back(state: &mut State, owner: usize) {
    if state.open[owner].is_some_and(|tx| tx.stage < Stage::Sent) {
        state.open[owner] = None;
    }
}
