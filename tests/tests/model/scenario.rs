//! What is explored: which deliveries, in which mode, with which mistakes; and the properties.

use crate::explore::Model;
use crate::state::{
    Budget, DELIVERIES, Delivery, EVENTS, KEYS, Lease, Next, On, ROWS, Row, Stage, Stands, State,
    Step, WORKERS, Way, Worker,
};
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
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) messages: [Message; DELIVERIES],
    pub(crate) way: Way,
    /// A message that came before these, and where its event may stand by now.
    pub(crate) earlier: Option<(Message, &'static [Stands])>,
    pub(crate) left: Budget,
    pub(crate) flaws: &'static [Flaw],
}

/// A mistake the design does not make.
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
    /// An orphan is deleted by its key alone.
    DeletesAnyHolder,
    /// The effect is committed in a transaction of its own, before the completion.
    EffectCommitsFirst,
    /// The completion's guard is read, and the row written at the commit: nothing is locked between.
    GuardLocksNothing,
    /// Contention and broken connections never end.
    HindrancesNeverEnd,
    /// A claim key without a row counts as held.
    OrphansCount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Property {
    /// No event has two committed effects.
    OneEffect,
    /// Whatever was answered with 2xx has a row: an event's own, or of equal content.
    Kept,
    /// No write under a token that is not the row's becomes durable.
    Fenced,
    /// No write is let through whose lease has run out.
    Timely,
    /// Every acknowledged event is completed or dead, again and again.
    Settles,
    /// Every worker is free, or down, again and again.
    WorkerReturns,
    /// Every request ends, again and again.
    RequestEnds,
}

impl Scenario {
    pub(crate) fn has(&self, flaw: Flaw) -> bool {
        self.flaws.contains(&flaw)
    }

    /// The guard of every write after `take`: token, state, and an end that has not come yet.
    pub(crate) fn is_held(state: &State, lease: Lease) -> bool {
        let row = state.row(lease.row);
        row.token == Some(lease.token) && row.stands == Stands::Processing { is_live: true }
    }

    /// Whether a transaction other than `mine` has written the row.
    pub(crate) fn is_locked(&self, state: &State, row: usize, mine: Option<usize>) -> bool {
        let others = state.open.iter().enumerate();
        let mut others = others.filter(|(owner, _)| Some(*owner) != mine);
        !self.has(Flaw::GuardLocksNothing)
            && others.any(|(_, tx)| {
                tx.is_some_and(|tx| tx.on == On::Row(row) && tx.stage >= Stage::Completed)
            })
    }

    fn start(&self) -> State {
        State {
            claims: [None; KEYS],
            rows: [None; ROWS],
            workers: [Worker::Idle; WORKERS],
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

    fn initial(&self) -> Vec<State> {
        let Some((message, places)) = self.earlier else {
            return vec![self.start()];
        };
        let stood = |&stands: &Stands| {
            let mut state = self.start();
            store::insert_row(&mut state, message, Row::new(message.event, stands, None));
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

    fn class(step: Step) -> Option<u32> {
        step.who.class()
    }

    fn always(&self) -> Vec<Property> {
        use Property::{Fenced, Kept, OneEffect, Timely};
        vec![OneEffect, Kept, Fenced, Timely]
    }

    fn eventually(&self) -> Vec<(Property, usize)> {
        let settles = (0..EVENTS).map(|event| (Property::Settles, event));
        let returns = (0..WORKERS).map(|worker| (Property::WorkerReturns, worker));
        let ends = (0..DELIVERIES).map(|delivery| (Property::RequestEnds, delivery));
        settles.chain(returns).chain(ends).collect()
    }

    fn holds(&self, property: Property, party: usize, state: &State) -> bool {
        let mut acknowledged = (self.messages.iter().zip(state.deliveries))
            .filter(|(_, delivery)| delivery.is_acknowledged())
            .map(|(message, _)| message.event);
        match property {
            Property::OneEffect => state.effects.iter().all(|&effects| effects <= 1),
            Property::Kept => acknowledged.all(|event| state.row_of(event).is_some()),
            Property::Fenced => !state.was_stale,
            Property::Timely => !state.was_late,
            Property::Settles => {
                let stands = state.row_of(party).map(|row| row.stands);
                !acknowledged.any(|event| event == party)
                    || matches!(stands, Some(Stands::Completed | Stands::Dead))
            }
            Property::WorkerReturns => {
                matches!(state.workers[party], Worker::Down | Worker::Idle)
            }
            Property::RequestEnds => matches!(
                state.deliveries[party],
                Delivery::Acknowledged | Delivery::Answered | Delivery::Away
            ),
        }
    }
}
