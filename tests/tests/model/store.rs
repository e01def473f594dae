//! What the store does by itself: leases run out, commits land or do not.

use crate::scenario::{Flaw, Scenario};
use crate::state::{
    Delivery, Lease, Mode, On, Outcome, Row, Stage, Stands, State, Tx, WORKERS, Worker,
};
use crate::step::{Next, Who};
use crate::worker::hinder;

pub(crate) fn steps(scenario: &Scenario, next: &mut Next<'_>) {
    for (at, row) in next.from.rows.iter().enumerate() {
        if row.is_some_and(|row| row.stands == Stands::Processing { is_live: true }) {
            next.step(Who::Clock(at), "runs out", |state| {
                state.row_mut(at).stands = Stands::Processing { is_live: false };
            });
        }
    }
    for (owner, tx) in next.from.open.iter().enumerate() {
        match *tx {
            Some(tx) if tx.stage == Stage::Sent => end(scenario, owner, tx, next),
            _ => {}
        }
    }
}

/// A commit that was asked for lands or does not, whether or not somebody waits for the answer.
fn end(scenario: &Scenario, owner: usize, tx: Tx, next: &mut Next<'_>) {
    let is_awaited = match owner.checked_sub(WORKERS) {
        None => matches!(next.from.workers[owner], Worker::Committing(_)),
        Some(delivery) => matches!(next.from.deliveries[delivery], Delivery::Committing(_)),
    };
    let who = Who::Commit(owner);
    let answer = |state: &mut State, worker: fn(Lease) -> Worker, delivery| match tx.on {
        On::New(at) if is_awaited => state.deliveries[at] = delivery,
        On::Row(row) if is_awaited => {
            let token = tx.token;
            state.workers[owner] = worker(Lease { row, token });
        }
        _ => {}
    };
    next.step(who, "lands", |state| {
        land(scenario, state, tx);
        state.open[owner] = None;
        answer(state, |_| Worker::Idle, Delivery::Answered);
    });
    next.step(who, "is refused", |state| {
        state.open[owner] = None;
        let failed = |lease| Worker::Recording(lease, Outcome::Failed);
        answer(state, failed, Delivery::Claiming(Mode::Inbox));
    });
    if is_awaited {
        hinder(scenario, who, "loses its connection", next, |state| {
            answer(state, Worker::Unsure, Delivery::Unsure(tx.token));
        });
    }
}

/// Effect and completion become visible together.
fn land(scenario: &Scenario, state: &mut State, tx: Tx) {
    match tx.on {
        On::New(delivery) => {
            let message = scenario.messages[delivery];
            let mut row = Row::new(message.event, Stands::Completed);
            row.token = Some(tx.token);
            state.insert(message, row);
            state.count_effect(message.event);
        }
        On::Row(at) => {
            let row = state.row_mut(at);
            let is_processing = matches!(row.stands, Stands::Processing { .. });
            let is_stale = row.token != Some(tx.token) || !is_processing;
            row.stands = Stands::Completed;
            let event = row.event;
            state.was_stale |= is_stale;
            if !scenario.has(Flaw::EffectCommitsFirst) {
                state.count_effect(event);
            }
        }
    }
}
