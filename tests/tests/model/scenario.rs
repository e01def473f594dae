//! What is explored: which deliveries, in which mode, with which mistake; and the properties.

use crate::explore::Model;
use crate::state::{
    Budget, DELIVERIES, Delivery, EVENTS, KEYS, Mode, On, ROWS, Row, Stage, Stands, State, WORKERS,
    Worker,
};
use crate::step::{Next, Step};
use crate::{delivery, store, worker};

/// What a delivery carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    /// The fact it reports, and so its content.
    pub(crate) event: usize,
    /// The claim key of its id.
    pub(crate) id: usize,
    /// The claim key of its content, if its id is unsigned.
    pub(crate) digest: Option<usize>,
}

/// A setting to explore.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) messages: [Message; DELIVERIES],
    pub(crate) mode: Mode,
    /// An event that was stored before, and where it may stand by now.
    pub(crate) earlier: Option<(Message, &'static [Stands])>,
    /// How many of the workers are ever up.
    pub(crate) workers: usize,
    pub(crate) left: Budget,
    pub(crate) flaws: &'static [Flaw],
}

/// A mistake that the design does not make, or a mercy that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// A lost inline lease is answered like an event that somebody else has.
    AcknowledgesLostInline,
    /// The 2xx is sent before the claim.
    AnswersFirst,
    /// The completion does not compare the token.
    CompletesAnyToken,
    /// The completion does not look at the end of the lease.
    CompletesLate,
    /// A lease that ran out is not counted.
    CrashesUncounted,
    /// The effect is committed in a transaction of its own, before the completion.
    EffectCommitsFirst,
    /// The completion's guard only reads, and the row is written at the commit.
    GuardLocksNothing,
    /// Contention, broken connections and shutdowns have no end.
    HindrancesNeverEnd,
    /// A claim key without a row counts as held.
    OrphansCount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Property {
    /// No event has two committed effects.
    OneEffect,
    /// What was answered with 2xx has a row of its content.
    Kept,
    /// No write under a token that is not the row's becomes durable.
    Fenced,
    /// No write is let through whose lease has run out.
    Timely,
    /// What is stored or was answered with 2xx is completed or dead, again and again.
    Settles,
    /// Every worker is free, or down, again and again.
    WorkerReturns,
}

impl Scenario {
    pub(crate) fn has(&self, flaw: Flaw) -> bool {
        self.flaws.contains(&flaw)
    }

    /// Whether a transaction other than that of `mine` has written the row and is still open.
    pub(crate) fn is_locked(&self, state: &State, row: usize, mine: Option<usize>) -> bool {
        let mut others = (state.open.iter().enumerate())
            .filter(|(owner, _)| Some(*owner) != mine)
            .filter_map(|(_, tx)| *tx);
        !self.has(Flaw::GuardLocksNothing)
            && others.any(|tx| tx.on == On::Row(row) && tx.stage >= Stage::Completed)
    }

    /// Whether an open transaction has inserted `key`: who wants it too waits for the end of that.
    pub(crate) fn is_claimed_in_open(&self, state: &State, key: usize) -> bool {
        state.open.iter().flatten().any(|tx| match tx.on {
            On::New(delivery) => self.messages[delivery].keys().any(|held| held == key),
            On::Row(_) => false,
        })
    }

    fn start(&self) -> State {
        let mut workers = [Worker::Down; WORKERS];
        workers[..self.workers].fill(Worker::Idle);
        State {
            claims: [None; KEYS],
            rows: [None; ROWS],
            workers,
            deliveries: [Delivery::Away; DELIVERIES],
            open: [None; WORKERS + DELIVERIES],
            effects: [0; EVENTS],
            left: self.left,
            was_stale: false,
            was_late: false,
        }
    }
}

impl Message {
    pub(crate) fn keys(self) -> impl Iterator<Item = usize> {
        [self.id].into_iter().chain(self.digest)
    }
}

impl Model for Scenario {
    type State = State;
    type Step = Step;
    type Property = Property;

    const STRONG: u32 = Step::TAKES;

    fn initial(&self) -> Vec<State> {
        let Some((message, places)) = self.earlier else {
            return vec![self.start()];
        };
        let stood = |&stands: &Stands| {
            let mut state = self.start();
            state.insert(message, Row::new(message.event, stands));
            state.effects[message.event] = u8::from(stands == Stands::Completed);
            state
        };
        places.iter().map(stood).collect()
    }

    fn steps(&self, state: &State, steps: &mut Vec<(Step, State)>) {
        let mut next = Next { from: state, steps };
        for worker in 0..WORKERS {
            worker::steps(self, worker, &mut next);
        }
        for delivery in 0..DELIVERIES {
            delivery::steps(self, delivery, &mut next);
        }
        store::steps(self, &mut next);
    }

    fn classes(step: Step) -> u32 {
        step.classes
    }

    fn kind(step: Step) -> &'static str {
        step.what
    }

    fn always(&self) -> Vec<Property> {
        use Property::{Fenced, Kept, OneEffect, Timely};
        vec![OneEffect, Kept, Fenced, Timely]
    }

    fn eventually(&self) -> Vec<(Property, usize)> {
        let settles = (0..EVENTS).map(|event| (Property::Settles, event));
        let returns = (0..WORKERS).map(|worker| (Property::WorkerReturns, worker));
        settles.chain(returns).collect()
    }

    fn holds(&self, property: Property, party: usize, state: &State) -> bool {
        let mut answered = (self.messages.iter().zip(state.deliveries))
            .filter(|(_, delivery)| delivery.is_answered())
            .map(|(message, _)| message.event);
        match property {
            Property::OneEffect => state.effects.iter().all(|&effects| effects <= 1),
            Property::Kept => answered.all(|event| state.row_of(event).is_some()),
            Property::Fenced => !state.was_stale,
            Property::Timely => !state.was_late,
            Property::Settles => match state.row_of(party) {
                Some(row) => matches!(row.stands, Stands::Completed | Stands::Dead),
                None => answered.all(|event| event != party),
            },
            Property::WorkerReturns => matches!(state.workers[party], Worker::Down | Worker::Idle),
        }
    }
}
