//! Who takes a step, and whether it can be relied on.

use std::fmt;

use crate::state::State;

/// A step of one party.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    who: Who,
    pub(crate) what: &'static str,
    /// For [`crate::explore::Model::classes`]; none if nothing relies on it.
    pub(crate) classes: u32,
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
    /// Of the classes, those of the rows that are taken: the one due first is taken first, so none is
    /// passed over for ever.
    pub(crate) const TAKES: u32 = 0xff << 24;
}

impl Who {
    /// Whoever can go on does, in the end. Only providers are not relied on.
    fn class(self) -> u32 {
        match self {
            Self::Clock(row) => 1 << row,
            Self::Commit(tx) => 1 << (8 + tx),
            Self::Provider(_) => 0,
            Self::Request(delivery) => 1 << (16 + delivery),
            Self::Worker(worker) => 1 << (20 + worker),
        }
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
        self.push(who, what, who.class(), change);
    }

    /// `worker` can take `row`.
    pub(crate) fn take(
        &mut self,
        worker: usize,
        row: usize,
        what: &'static str,
        change: impl FnOnce(&mut State),
    ) {
        let who = Who::Worker(worker);
        self.push(who, what, who.class() | (1 << (24 + row)), change);
    }

    /// To `who` may happen `what`, which makes this `change`.
    pub(crate) fn chance(&mut self, who: Who, what: &'static str, change: impl FnOnce(&mut State)) {
        self.push(who, what, 0, change);
    }

    fn push(
        &mut self,
        who: Who,
        what: &'static str,
        classes: u32,
        change: impl FnOnce(&mut State),
    ) {
        let mut state = *self.from;
        change(&mut state);
        let step = Step { who, what, classes };
        self.steps.push((step, state.normal()));
    }
}
