//! A delivery: claim, judge a lost claim, run inline, answer.

use crate::scenario::{Flaw, Message, Scenario};
use crate::state::{
    Delivery, FRESH, Holder, KEYS, Mode, On, Row, Stage, Stands, State, Tx, Verdict, WORKERS,
};
use crate::step::{Next, Who};
use crate::worker::{hinder, roll_back};

/// What can happen to delivery `me`.
pub(crate) fn steps(scenario: &Scenario, me: usize, next: &mut Next<'_>) {
    let message = scenario.messages[me];
    match next.from.deliveries[me] {
        Delivery::Acknowledged => return,
        Delivery::Answered => {
            next.step(
                Who::Provider(me),
                "gets its 2xx",
                to(me, Delivery::Acknowledged),
            );
        }
        Delivery::Away => {
            let is_late = scenario.has(Flaw::AnswersFirst);
            let claiming = Delivery::Claiming(scenario.mode);
            let sent = if is_late { Delivery::Late } else { claiming };
            return next.step(Who::Provider(me), "sends", to(me, sent));
        }
        Delivery::Claiming(mode) => claim(scenario, me, message, mode, next),
        // The store moves.
        Delivery::Committing(_) => {}
        Delivery::Judging(mode) => judge(scenario, me, message, mode, next),
        Delivery::Late => claim_late(me, message, next),
        Delivery::Running => run(scenario, me, next),
        Delivery::Settling(mode, orphans, verdict) => {
            settle(me, mode, orphans, verdict, next);
        }
        Delivery::Unsure(token) => resolve(me, message, token, next),
    }
    // Its process dies, it is cut off, the store is away, the deadline passes, the answer is lost.
    next.chance(
        Who::Request(me),
        "ends, and the provider hears nothing",
        |state| {
            let was_answered = state.deliveries[me] == Delivery::Late;
            let (late, other) = (Delivery::Acknowledged, Delivery::Away);
            state.deliveries[me] = if was_answered { late } else { other };
            roll_back(state, WORKERS + me);
        },
    );
}

/// Keys and row in one statement. For the inbox it stands alone, and what it won it keeps; inline it
/// opens the transaction, and is rolled back if it did not win every key.
fn claim(scenario: &Scenario, me: usize, message: Message, mode: Mode, next: &mut Next<'_>) {
    if message
        .keys()
        .any(|key| scenario.is_claimed_in_open(next.from, key))
    {
        return;
    }
    let is_free = |key: &usize| next.from.claims[*key].is_none();
    let has_won = message.keys().all(|key| is_free(&key));
    let who = Who::Request(me);
    match mode {
        Mode::Inbox if has_won => next.step(who, "claims and stores its event", |state| {
            state.insert(message, Row::new(message.event, Stands::Pending));
            state.deliveries[me] = Delivery::Answered;
        }),
        Mode::Inbox => next.step(who, "loses its claim, or half of it", |state| {
            for key in message.keys().filter(is_free) {
                state.claims[key] = Some(Holder::Orphan);
            }
            state.deliveries[me] = Delivery::Judging(mode);
        }),
        Mode::Inline if has_won => next.step(who, "claims its event in a transaction", |state| {
            state.open[WORKERS + me] = Some(Tx {
                on: On::New(me),
                token: FRESH,
                stage: Stage::Open,
            });
            state.deliveries[me] = Delivery::Running;
        }),
        Mode::Inline => {
            let judging = to(me, Delivery::Judging(mode));
            next.step(who, "loses its claim and rolls back", judging);
        }
    }
}

/// [`Flaw::AnswersFirst`].
fn claim_late(me: usize, message: Message, next: &mut Next<'_>) {
    next.step(Who::Request(me), "claims, already answered", |state| {
        state.deliveries[me] = Delivery::Acknowledged;
        if message.keys().all(|key| state.claims[key].is_none()) {
            state.insert(message, Row::new(message.event, Stands::Pending));
        }
    });
}

/// Read who holds the keys; an orphan does not. The whole table is at `NewEvent::judge`.
fn judge(scenario: &Scenario, me: usize, message: Message, mode: Mode, next: &mut Next<'_>) {
    let state = next.from;
    let holder = |key: usize| match state.claims[key] {
        Some(Holder::Row(at)) => Some((at, state.row(at))),
        _ => None,
    };
    let again = |at: usize, row: &Row| match row.stands {
        Stands::Dead => Verdict::Revive(at),
        // A duplicate, or in flight.
        _ => Verdict::Acknowledge,
    };
    let is_orphan = |key: &usize| state.claims[*key] == Some(Holder::Orphan);
    let orphans: u8 = message.keys().filter(is_orphan).map(|key| 1 << key).sum();
    let verdict = match (holder(message.id), message.digest.and_then(holder)) {
        // Into quarantine: content mismatch.
        (Some((_, row)), _) if row.event != message.event => Verdict::Acknowledge,
        // Under a new id it goes into quarantine if the first is completed; else it is its retry.
        (Some((at, row)), _) | (None, Some((at, row))) => again(at, row),
        (None, None) => Verdict::Vanished,
    };
    // Somebody seems to have it.
    let is_fooled = orphans != 0 && scenario.has(Flaw::OrphansCount);
    next.step(Who::Request(me), "reads who holds its keys", |state| {
        state.deliveries[me] = match (orphans, verdict) {
            _ if is_fooled => Delivery::Answered,
            (0, Verdict::Acknowledge) => Delivery::Answered,
            (0, Verdict::Vanished) => Delivery::Claiming(mode),
            _ => Delivery::Settling(mode, orphans, verdict),
        };
    });
}

/// One statement for each orphan, then one for the verdict.
fn settle(me: usize, mode: Mode, orphans: u8, verdict: Verdict, next: &mut Next<'_>) {
    let who = Who::Request(me);
    if let Some(key) = (0..KEYS).find(|key| orphans & (1 << key) != 0) {
        return next.step(who, "deletes an orphan", |state| {
            if state.claims[key] == Some(Holder::Orphan) {
                state.claims[key] = None;
            }
            state.deliveries[me] = Delivery::Settling(mode, orphans & !(1 << key), verdict);
        });
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
            next.step(who, "must claim again", to(me, Delivery::Claiming(mode)));
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
        state.deliveries[me] = delivery;
        roll_back(state, WORKERS + me);
    };
    match tx.stage {
        Stage::Open => next.step(who, "writes the effect", |state| {
            state.advance(WORKERS + me, Stage::Effect);
        }),
        Stage::Effect => {
            next.step(who, "completes the event, not committed yet", |state| {
                state.advance(WORKERS + me, Stage::Completed);
            });
            let is_flawed = scenario.has(Flaw::AcknowledgesLostInline);
            let (yes, no) = (Delivery::Answered, Delivery::Away);
            let answer = if is_flawed { yes } else { no };
            next.chance(who, "finds its lease run out and rolls back", |state| {
                leave(state, answer);
            });
        }
        Stage::Completed => {
            return next.step(who, "asks for the commit", |state| {
                state.advance(WORKERS + me, Stage::Sent);
                state.deliveries[me] = Delivery::Committing(tx.token);
            });
        }
        Stage::Sent => return,
    }
    // Where the provider's retry is relied on instead, this is a request that ends unanswered.
    next.step(
        who,
        "fails, rolls back, and falls back to the inbox",
        |state| {
            leave(state, Delivery::Claiming(Mode::Inbox));
        },
    );
    hinder(scenario, who, "meets contention", next, |state| {
        leave(state, Delivery::Away);
    });
}

/// After a commit whose answer was lost: read the row again.
fn resolve(me: usize, message: Message, token: u8, next: &mut Next<'_>) {
    let is_mine = |at: usize| {
        let row = next.from.row(at);
        row.stands == Stands::Completed && row.token == Some(token)
    };
    let (what, delivery) = if next.from.open[WORKERS + me].is_some() {
        ("stops waiting for the end of its commit", Delivery::Away)
    } else if matches!(next.from.claims[message.id], Some(Holder::Row(at)) if is_mine(at)) {
        ("reads that its commit took place", Delivery::Answered)
    } else {
        ("reads that its commit did not take place", Delivery::Away)
    };
    next.step(Who::Request(me), what, to(me, delivery));
}

fn to(me: usize, delivery: Delivery) -> impl FnOnce(&mut State) {
    move |state| state.deliveries[me] = delivery
}
