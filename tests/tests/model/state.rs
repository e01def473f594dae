//! What there is: the store's tables, who works on them, and what must hold of them.

use std::fmt;

pub(crate) const DELIVERIES: usize = 2;
pub(crate) const EVENTS: usize = 2;
pub(crate) const KEYS: usize = 4;
pub(crate) const ROWS: usize = 2;
pub(crate) const WORKERS: usize = 2;
/// An event is dead once its handler failed this often.
pub(crate) const MAX_FAILURES: u8 = 2;
/// An event is dead once its lease ran out more often than this.
pub(crate) const MAX_CRASHES: u8 = 1;

/// Everything at one moment. What is not here (payloads, replies, due times) decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The table of claim keys.
    pub(crate) claims: [Option<Holder>; KEYS],
    /// The inbox. Rows are never deleted: pruning is not modelled.
    pub(crate) rows: [Option<Row>; ROWS],
    pub(crate) workers: [Worker; WORKERS],
    pub(crate) deliveries: [Delivery; DELIVERIES],
    /// Open transactions: one for each worker, then one for each delivery that runs inline.
    pub(crate) open: [Option<Tx>; WORKERS + DELIVERIES],
    /// Committed effects of each event.
    pub(crate) effects: [u8; EVENTS],
    /// What may still go wrong.
    pub(crate) left: Budget,
    /// A write under a token that is not the row's became durable.
    pub(crate) was_stale: bool,
    /// A write was let through after its lease had run out.
    pub(crate) was_late: bool,
}

/// What holds a claim key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// A row that never was: left by a claim that won another of its keys only.
    Orphan,
    Row(usize),
}

/// An inbox row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub(crate) event: usize,
    pub(crate) stands: Stands,
    /// Of its latest claim. Tokens are compared for equality only, so any number that nobody holds
    /// stands for a fresh one.
    pub(crate) token: Option<u8>,
    pub(crate) failures: u8,
    pub(crate) crashes: u8,
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Stands {
    Completed,
    Dead,
    /// Due or not: without a clock, waiting is not being taken yet.
    Pending,
    /// A renewal changes nothing here: the lease has simply not run out yet.
    Processing {
        is_live: bool,
    },
}

/// The right to process the event in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    pub(crate) row: usize,
    pub(crate) token: u8,
}

/// One process's loop over the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Worker {
    /// Has asked for the commit of its transaction.
    Committing(Lease),
    /// Crashed.
    Down,
    Idle,
    /// Has the outcome of an attempt, and has not written it yet.
    Recording(Lease, Outcome),
    /// Runs the handler, with or without a transaction.
    Running(Lease),
    /// The answer to its commit was lost.
    Unsure(Lease),
}

/// What is recorded of an attempt that did not complete its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// Counted against the event.
    Failed,
    /// Shutdown: due at once, not counted.
    HandedBack,
    /// The store was in the way or away: runs again, not counted.
    Hindered,
}

/// A delivery, from the provider's first attempt to its last. In which process a request runs makes
/// no difference, because any request can die at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Delivery {
    /// The provider has its 2xx and will not send again.
    Acknowledged,
    /// A 2xx is on its way.
    Answered,
    /// The provider has not sent it yet, or not again.
    Away,
    Claiming(Way),
    /// Inline: has asked for the commit, under this token.
    Committing(u8),
    /// Lost the claim, and has not read yet to whom.
    Judging(Way),
    /// [`Flaw::AnswersFirst`]: the provider has its 2xx, the claim is still to come.
    Late,
    /// Inline: the handler runs in the transaction of the claim.
    Running,
    /// Acts on what it read: deletes these keys, a bit each, and does what the verdict says.
    Settling(Way, u8, Verdict),
    /// Inline: the answer to the commit was lost.
    Unsure(u8),
}

/// How a delivery is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    /// Keys and row in one statement; a worker runs the event.
    Inbox,
    /// In the transaction that effect and completion share.
    Inline,
}

/// What a delivery is that lost its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// Answer 2xx: a duplicate, in flight, or kept in quarantine.
    Acknowledge,
    /// The event in this row is dead: let it run again.
    Revive(usize),
    /// Nobody holds a key any more: claim again.
    Vanished,
}

/// An open transaction, and what it will write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Tx {
    pub(crate) on: On,
    pub(crate) token: u8,
    pub(crate) stage: Stage,
}

/// The row that a transaction completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum On {
    /// The row of this inline delivery, seen by nobody else before the commit. It has a lease too.
    NewRow {
        delivery: usize,
        is_live: bool,
    },
    Row(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Hash)]
pub(crate) enum Stage {
    /// Opened.
    Open,
    /// The handler's effect is written.
    Effect,
    /// The guarded completion is written: the row is locked until the transaction ends.
    Completed,
    /// The commit is asked for: it lands or not, whatever becomes of who asked.
    Sent,
}

/// What may go wrong so many times, because none of it is counted against an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Budget {
    pub(crate) crashes: u8,
    /// Contention, and connections that break during a commit.
    pub(crate) hindrances: u8,
    pub(crate) shutdowns: u8,
}

impl State {
    /// A number for a new token.
    pub(crate) fn fresh_token(&self) -> u8 {
        let rows = self.rows.iter().flatten().filter_map(|row| row.token);
        let open = self.open.iter().flatten().map(|tx| tx.token);
        let workers = self.workers.iter().filter_map(|worker| match *worker {
            Worker::Committing(lease)
            | Worker::Recording(lease, _)
            | Worker::Running(lease)
            | Worker::Unsure(lease) => Some(lease.token),
            Worker::Down | Worker::Idle => None,
        });
        let deliveries = self
            .deliveries
            .iter()
            .filter_map(|delivery| match *delivery {
                Delivery::Committing(token) | Delivery::Unsure(token) => Some(token),
                _ => None,
            });
        let used: Vec<u8> = rows.chain(open).chain(workers).chain(deliveries).collect();
        (0..).find(|token| !used.contains(token)).unwrap()
    }

    pub(crate) fn row(&self, row: usize) -> &Row {
        self.rows[row].as_ref().unwrap()
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut Row {
        self.rows[row].as_mut().unwrap()
    }

    /// The row of `event`, as everybody can read it.
    pub(crate) fn row_of(&self, event: usize) -> Option<&Row> {
        self.rows.iter().flatten().find(|row| row.event == event)
    }
}

impl Row {
    pub(crate) fn new(event: usize, stands: Stands, token: Option<u8>) -> Self {
        Self {
            event,
            stands,
            token,
            failures: 0,
            crashes: 0,
        }
    }
}

impl Delivery {
    /// Whether a 2xx was sent.
    pub(crate) fn is_acknowledged(self) -> bool {
        matches!(self, Self::Acknowledged | Self::Answered | Self::Late)
    }
}

/// A step, and who takes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) who: Who,
    pub(crate) what: &'static str,
}

/// Who takes a step. All but the last two are fair: what they can do for ever they do in the end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    /// The store's clock, for the lease of a row.
    Clock(usize),
    /// The store, for a commit that was asked for in a transaction.
    Commit(usize),
    /// The process that serves a delivery.
    Request(usize),
    Worker(usize),
    /// What nobody can count on, or count out.
    Fate,
    /// Sends again as long as it likes, and not at all if it likes.
    Provider(usize),
}

impl Who {
    /// Its class among the fair ones.
    pub(crate) fn class(self) -> Option<u32> {
        let number = match self {
            Self::Clock(row) => row,
            Self::Commit(tx) => 4 + tx,
            Self::Request(delivery) => 8 + delivery,
            Self::Worker(worker) => 12 + worker,
            Self::Fate | Self::Provider(_) => return None,
        };
        u32::try_from(number).ok()
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.who, self.what)
    }
}

/// The steps out of one state.
pub(crate) struct Next<'a> {
    pub(crate) from: &'a State,
    pub(crate) steps: &'a mut Vec<(Step, State)>,
}

impl Next<'_> {
    /// `who` can do `what`, which makes this `change`.
    pub(crate) fn step(&mut self, who: Who, what: &'static str, change: impl FnOnce(&mut State)) {
        let mut state = *self.from;
        change(&mut state);
        self.steps.push((Step { who, what }, state));
    }
}
