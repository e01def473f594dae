//! The store: commits land or not, leases run out.

use crate::scenario::{Flaw, Message, Scenario};
use crate::state::{
    Delivery, Holder, Next, On, Outcome, Row, Stage, Stands, State, Tx, WORKERS, Way, Who, Worker,
};
use crate::worker::hinder;

/// What the store can do by itself.
pub(crate) fn steps(scenario: &Scenario, next: &mut Next<'_>) {
    for (at, row) in next.from.rows.iter().enumerate() {
        if row.is_some_and(|row| row.stands == Stands::Processing { is_live: true }) {
            next.step(Who::Clock(at), "lets a lease run out", |state| {
                state.row_mut(at).stands = Stands::Processing { is_live: false };
            });
        }
    }
    for (owner, tx) in next.from.open.iter().enumerate() {
        let Some(tx) = *tx else { continue };
        if let On::NewRow {
            delivery,
            is_live: true,
        } = tx.on
            && tx.stage < Stage::Completed
        {
            next.step(Who::Fate, "lets an inline lease run out", |state| {
                let on = On::NewRow {
                    delivery,
                    is_live: false,
                };
                state.open[owner] = Some(Tx { on, ..tx });
            });
        }
        if tx.stage == Stage::Sent {
            end(scenario, owner, tx, next);
        }
    }
}

/// A commit that was asked for lands or does not, whether or not somebody still waits for it.
fn end(scenario: &Scenario, owner: usize, tx: Tx, next: &mut Next<'_>) {
    let is_awaited = match owner.checked_sub(WORKERS) {
        None => matches!(next.from.workers[owner], Worker::Committing(_)),
        Some(delivery) => matches!(next.from.deliveries[delivery], Delivery::Committing(_)),
    };
    next.step(Who::Commit(owner), "lands", |state| {
        land(scenario, state, tx);
        state.open[owner] = None;
        if is_awaited {
            answer(state, owner, Worker::Idle, Delivery::Answered);
        }
    });
    next.step(
        Who::Commit(owner),
        "is refused, everything rolled back",
        |state| {
            state.open[owner] = None;
            if let (true, On::Row(row)) = (is_awaited, tx.on) {
                let lease = crate::state::Lease {
                    row,
                    token: tx.token,
                };
                state.workers[owner] = Worker::Recording(lease, Outcome::Failed);
            } else if is_awaited {
                answer(state, owner, Worker::Idle, Delivery::Claiming(Way::Inbox));
            }
        },
    );
    if is_awaited {
        hinder(
            scenario,
            next,
            "breaks a connection during its commit",
            |state| {
                let lease = match state.workers.get(owner) {
                    Some(Worker::Committing(lease)) => Worker::Unsure(*lease),
                    _ => Worker::Idle,
                };
                answer(state, owner, lease, Delivery::Unsure(tx.token));
            },
        );
    }
}

/// Effect and completion become visible together.
fn land(scenario: &Scenario, state: &mut State, tx: Tx) {
    let event = match tx.on {
        On::NewRow { delivery, .. } => {
            let message = scenario.messages[delivery];
            let row = Row::new(message.event, Stands::Completed, Some(tx.token));
            insert_row(state, message, row);
            message.event
        }
        On::Row(at) => {
            let row = state.row_mut(at);
            let is_processing = matches!(row.stands, Stands::Processing { .. });
            let is_stale = row.token != Some(tx.token) || !is_processing;
            row.stands = Stands::Completed;
            let event = row.event;
            state.was_stale |= is_stale;
            event
        }
    };
    let is_old = scenario.has(Flaw::EffectCommitsFirst) && matches!(tx.on, On::Row(_));
    if !is_old {
        state.effects[event] = (state.effects[event] + 1).min(2);
    }
}

/// A row with its claim keys.
pub(crate) fn insert_row(state: &mut State, message: Message, row: Row) {
    let at = state.rows.iter().position(Option::is_none).unwrap();
    state.rows[at] = Some(row);
    for key in message.keys() {
        state.claims[key] = Some(Holder::Row(at));
    }
}

fn answer(state: &mut State, owner: usize, worker: Worker, delivery: Delivery) {
    match owner.checked_sub(WORKERS) {
        None => state.workers[owner] = worker,
        Some(at) => state.deliveries[at] = delivery,
    }
}
