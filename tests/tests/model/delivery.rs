//! A delivery: claim, judge a lost claim, run inline, answer.

use crate::scenario::{Flaw, Message, Scenario};
use crate::state::{
    Delivery, Holder, KEYS, Next, On, Row, Stage, Stands, State, Tx, Verdict, WORKERS, Way, Who,
};
use crate::store::insert_row;
use crate::worker::{advance, hinder};

/// What can happen to delivery `me`.
pub(crate) fn steps(scenario: &Scenario, me: usize, next: &mut Next<'_>) {
    let message = scenario.messages[me];
    match next.from.deliveries[me] {
        Delivery::Acknowledged => return,
        Delivery::Answered => {
            let arrives = to(me, Delivery::Acknowledged);
            next.step(Who::Provider(me), "gets its 2xx", arrives);
        }
        Delivery::Away => {
            let claiming = Delivery::Claiming(scenario.way);
            let is_late = scenario.has(Flaw::AnswersFirst);
            let first = if is_late { Delivery::Late } else { claiming };
            next.step(Who::Provider(me), "sends", to(me, first));
            return;
        }
        Delivery::Claiming(way) => claim(scenario, me, message, way, next),
        // For the store to move.
        Delivery::Committing(_) => {}
        Delivery::Judging(way) => judge(scenario, me, message, way, next),
        Delivery::Late => next.step(Who::Request(me), "claims at last", |state| {
            state.deliveries[me] = Delivery::Acknowledged;
            if message.keys().all(|key| state.claims[key].is_none()) {
                insert_row(
                    state,
                    message,
                    Row::new(message.event, Stands::Pending, None),
                );
            }
        }),
        Delivery::Running => run(scenario, me, next),
        Delivery::Settling(way, orphans, verdict) => {
            settle(scenario, me, way, orphans, verdict, next);
        }
        Delivery::Unsure(token) => resolve(me, message, token, next),
    }
    // The process dies, the deadline passes, the store is away, the provider hangs up, the answer is lost.
    next.step(Who::Fate, "ends a request where it is", |state| {
        let was_late = state.deliveries[me] == Delivery::Late;
        let (late, away) = (Delivery::Acknowledged, Delivery::Away);
        state.deliveries[me] = if was_late { late } else { away };
        if state.open[WORKERS + me].is_some_and(|tx| tx.stage < Stage::Sent) {
            state.open[WORKERS + me] = None;
        }
    });
}

/// Keys and row, in one statement. In the inbox it stands for itself; inline it is the first of a
/// transaction, which is rolled back if it did not win all keys.
fn claim(scenario: &Scenario, me: usize, message: Message, way: Way, next: &mut Next<'_>) {
    if message
        .keys()
        .any(|key| is_locked(scenario, next.from, key))
    {
        return;
    }
    let is_free = |key: &usize| next.from.claims[*key].is_none();
    let has_won = message.keys().all(|key| is_free(&key));
    let who = Who::Request(me);
    match way {
        Way::Inbox if has_won => next.step(who, "claims and stores its event", |state| {
            insert_row(
                state,
                message,
                Row::new(message.event, Stands::Pending, None),
            );
            state.deliveries[me] = Delivery::Answered;
        }),
        Way::Inbox => next.step(who, "loses its claim, perhaps by half", |state| {
            for key in message.keys().filter(is_free) {
                state.claims[key] = Some(Holder::Orphan);
            }
            state.deliveries[me] = Delivery::Judging(way);
        }),
        Way::Inline if has_won => next.step(who, "claims its event in a transaction", |state| {
            state.open[WORKERS + me] = Some(Tx {
                on: On::NewRow {
                    delivery: me,
                    is_live: true,
                },
                token: state.fresh_token(),
                stage: Stage::Open,
            });
            state.deliveries[me] = Delivery::Running;
        }),
        Way::Inline => {
            let judging = to(me, Delivery::Judging(way));
            next.step(who, "loses its claim, and rolls back", judging);
        }
    }
}

/// Whether an open transaction inserted `key`: others wait for its end.
fn is_locked(scenario: &Scenario, state: &State, key: usize) -> bool {
    state.open.iter().flatten().any(|tx| match tx.on {
        On::NewRow { delivery, .. } => scenario.messages[delivery].keys().any(|held| held == key),
        On::Row(_) => false,
    })
}

/// Read who holds the keys; orphans do not. See `NewEvent::judge` for the whole table.
fn judge(scenario: &Scenario, me: usize, message: Message, way: Way, next: &mut Next<'_>) {
    let state = next.from;
    let holder = |key: usize| match state.claims[key] {
        Some(Holder::Row(at)) => Some((at, state.row(at))),
        _ => None,
    };
    let is_orphan = |key: &usize| state.claims[*key] == Some(Holder::Orphan);
    let again = |at: usize, row: &Row| match row.stands {
        Stands::Dead => Verdict::Revive(at),
        // A duplicate, or in flight.
        _ => Verdict::Acknowledge,
    };
    let verdict = match (holder(message.id), message.digest.and_then(holder)) {
        // Into quarantine: content mismatch.
        (Some((_, row)), _) if row.event != message.event => Verdict::Acknowledge,
        (Some((at, row)), _) => again(at, row),
        // Into quarantine if it is completed: replayed. Otherwise it is the first one's retry.
        (None, Some((at, row))) => again(at, row),
        (None, None)
            if scenario.has(Flaw::OrphansCount) && message.keys().any(|key| is_orphan(&key)) =>
        {
            Verdict::Acknowledge
        }
        (None, None) => Verdict::Vanished,
    };
    let orphans = message.keys().filter(is_orphan).map(|key| 1 << key).sum();
    next.step(Who::Request(me), "reads who holds its keys", |state| {
        state.deliveries[me] = Delivery::Settling(way, orphans, verdict);
    });
}

/// One statement for each orphan, then one for the verdict.
fn settle(
    scenario: &Scenario,
    me: usize,
    way: Way,
    orphans: u8,
    verdict: Verdict,
    next: &mut Next<'_>,
) {
    let who = Who::Request(me);
    if let Some(key) = (0..KEYS).find(|key| orphans & 1 << key != 0) {
        next.step(who, "deletes an orphan", |state| {
            let is_orphan = state.claims[key] == Some(Holder::Orphan);
            if is_orphan || scenario.has(Flaw::DeletesAnyHolder) {
                state.claims[key] = None;
            }
            state.deliveries[me] = Delivery::Settling(way, orphans & !(1 << key), verdict);
        });
        return;
    }
    match verdict {
        Verdict::Acknowledge => {
            next.step(
                who,
                "acknowledges what is there",
                to(me, Delivery::Answered),
            );
        }
        Verdict::Revive(at) if next.from.row(at).stands == Stands::Dead => {
            next.step(who, "revives a dead event", |state| {
                state.row_mut(at).stands = Stands::Pending;
                state.deliveries[me] = Delivery::Answered;
            });
        }
        Verdict::Revive(_) | Verdict::Vanished => {
            next.step(who, "claims again", to(me, Delivery::Claiming(way)));
        }
    }
}

/// The handler, in the transaction of the claim.
fn run(scenario: &Scenario, me: usize, next: &mut Next<'_>) {
    let Some(tx) = next.from.open[WORKERS + me] else {
        return;
    };
    let who = Who::Request(me);
    let leave = |state: &mut State, delivery| {
        state.open[WORKERS + me] = None;
        state.deliveries[me] = delivery;
    };
    match (tx.stage, tx.on) {
        (Stage::Open, _) => next.step(who, "writes the effect inline", |state| {
            advance(state, WORKERS + me, Stage::Effect);
        }),
        (Stage::Effect, On::NewRow { is_live: true, .. }) => {
            next.step(who, "completes the event, not committed yet", |state| {
                advance(state, WORKERS + me, Stage::Completed);
            });
        }
        (Stage::Effect, _) => {
            let is_flawed = scenario.has(Flaw::AcknowledgesLostInline);
            let (yes, no) = (Delivery::Answered, Delivery::Away);
            next.step(who, "finds its lease lost, and rolls back", |state| {
                leave(state, if is_flawed { yes } else { no });
            });
        }
        (Stage::Completed, _) => {
            next.step(who, "asks for the commit", |state| {
                advance(state, WORKERS + me, Stage::Sent);
                state.deliveries[me] = Delivery::Committing(tx.token);
            });
            return;
        }
        (Stage::Sent, _) => return,
    }
    // It may also answer 503 and keep nothing: that is a request ended where it is.
    next.step(who, "fails, rolls back, falls back to the inbox", |state| {
        leave(state, Delivery::Claiming(Way::Inbox));
    });
    hinder(
        scenario,
        next,
        "lets an inline handler meet contention",
        |state| {
            leave(state, Delivery::Away);
        },
    );
}

/// After a commit without answer.
fn resolve(me: usize, message: Message, token: u8, next: &mut Next<'_>) {
    let is_mine = |at: usize| {
        let row = next.from.row(at);
        row.stands == Stands::Completed && row.token == Some(token)
    };
    let who = Who::Request(me);
    if next.from.open[WORKERS + me].is_some() {
        next.step(
            who,
            "stops waiting for the end of its commit",
            to(me, Delivery::Away),
        );
    } else if matches!(next.from.claims[message.id], Some(Holder::Row(at)) if is_mine(at)) {
        next.step(
            who,
            "reads that its commit took place",
            to(me, Delivery::Answered),
        );
    } else {
        next.step(
            who,
            "reads that its commit did not take place",
            to(me, Delivery::Away),
        );
    }
}

fn to(me: usize, delivery: Delivery) -> impl FnOnce(&mut State) {
    move |state| state.deliveries[me] = delivery
}
