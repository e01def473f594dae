//! Who takes a step, and whether it can be relied on.

use std::fmt;

use crate::state::State;

/// A step of one party.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    who: Who,
    pub(crate) what: &'static str,
    /// Not to be relied on: it may happen or not.
    is_chance: bool,
}

/// Who takes a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    /// The store's clock, for the lease of this row.
    Clock(usize),
    /// The store, for a commit that was asked for in this transaction.
    Commit(usize),
    /// Sends this delivery again as long as it likes, and not at all if it likes.
    Provider(usize),
    /// The process that serves this delivery.
    Request(usize),
    /// This worker.
    Worker(usize),
}

impl Step {
    /// Its class, for [`crate::explore::Model::class`]: one for each party but the providers.
    pub(crate) fn class(self) -> Option<u32> {
        let number = match self.who {
            _ if self.is_chance => return None,
            Who::Provider(_) => return None,
            Who::Clock(row) => row,
            Who::Commit(tx) => 8 + tx,
            Who::Request(delivery) => 16 + delivery,
            Who::Worker(worker) => 24 + worker,
        };
        u32::try_from(number).ok()
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (who, number) = match self.who {
            Who::Clock(row) => ("lease of row", row),
            Who::Commit(tx) => ("commit", tx),
            Who::Provider(delivery) => ("provider of delivery", delivery),
            Who::Request(delivery) => ("request of delivery", delivery),
            Who::Worker(worker) => ("worker", worker),
        };
        write!(f, "{who} {number} {}", self.what)
    }
}

/// Collects the steps out of one state.
pub(crate) struct Next<'a> {
    pub(crate) from: &'a State,
    pub(crate) steps: &'a mut Vec<(Step, State)>,
}

impl Next<'_> {
    /// `who` can do `what`, which makes this `change`, and will not put it off for ever.
    pub(crate) fn step(&mut self, who: Who, what: &'static str, change: impl FnOnce(&mut State)) {
        self.push(who, what, false, change);
    }

    /// To `who` may happen `what`, which makes this `change`.
    pub(crate) fn chance(&mut self, who: Who, what: &'static str, change: impl FnOnce(&mut State)) {
        self.push(who, what, true, change);
    }

    fn push(
        &mut self,
        who: Who,
        what: &'static str,
        is_chance: bool,
        change: impl FnOnce(&mut State),
    ) {
        let mut state = *self.from;
        change(&mut state);
        let step = Step {
            who,
            what,
            is_chance,
        };
        self.steps.push((step, state.normal()));
    }
}
