//! What there is: the store's tables, and where everybody stands who works on them.

use crate::scenario::Message;

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
    /// Of its latest claim, while somebody remembers it.
    pub(crate) token: Option<Token>,
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

/// A fencing token. Equal or not is all that is ever asked of two, so they are numbered anew after
/// each step: otherwise there would be no end of states.
pub(crate) type Token = u8;

/// A token that was never given before.
pub(crate) const FRESH: Token = Token::MAX;

/// The right to process the event in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    pub(crate) row: usize,
    pub(crate) token: Token,
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
    /// The handler's failure, counted against the event.
    Failed,
    /// Shutdown, contention, an absent store: not counted.
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
    Claiming(Mode),
    /// Inline: has asked for the commit, under this token.
    Committing(Token),
    /// Lost the claim, and has not read yet to whom.
    Judging(Mode),
    /// [`Flaw::AnswersFirst`]: the provider has its 2xx, the claim is still to come.
    Late,
    /// Inline: the handler runs in the transaction of the claim.
    Running,
    /// Acts on what it read: deletes these keys, a bit each, and does what the verdict says.
    Settling(Mode, u8, Verdict),
    /// Inline: the answer to the commit was lost.
    Unsure(Token),
}

/// How a delivery is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
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
    pub(crate) token: Token,
    pub(crate) stage: Stage,
}

/// The row that a transaction completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum On {
    /// The row of this inline delivery, seen by nobody else before the commit.
    New(usize),
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
    /// Contention, a connection that breaks during a commit, a graceful shutdown.
    pub(crate) hindrances: u8,
}

impl State {
    /// This state, with everything made equal that no step can tell apart.
    pub(crate) fn normal(mut self) -> Self {
        for row in self.rows.iter_mut().flatten() {
            if row.stands == Stands::Completed {
                (row.failures, row.crashes) = (0, 0);
            }
        }
        let mut held: Vec<Token> = Vec::new();
        for token in self.tokens_held() {
            let known = held.iter().position(|other| other == token);
            let number = known.unwrap_or_else(|| {
                held.push(*token);
                held.len() - 1
            });
            *token = Token::try_from(number).unwrap();
        }
        for row in self.rows.iter_mut().flatten() {
            let number = held.iter().position(|&held| Some(held) == row.token);
            row.token = number.map(|number| Token::try_from(number).unwrap());
        }
        self
    }

    /// Every token that somebody may still compare with a row's.
    fn tokens_held(&mut self) -> impl Iterator<Item = &mut Token> {
        let workers = self.workers.iter_mut().filter_map(|worker| match worker {
            Worker::Committing(lease)
            | Worker::Recording(lease, _)
            | Worker::Running(lease)
            | Worker::Unsure(lease) => Some(&mut lease.token),
            Worker::Down | Worker::Idle => None,
        });
        let deliveries = self.deliveries.iter_mut();
        let deliveries = deliveries.filter_map(|delivery| match delivery {
            Delivery::Committing(token) | Delivery::Unsure(token) => Some(token),
            _ => None,
        });
        let open = self.open.iter_mut().flatten().map(|tx| &mut tx.token);
        workers.chain(deliveries).chain(open)
    }

    /// Insert a row with its claim keys.
    pub(crate) fn insert(&mut self, message: Message, row: Row) {
        let at = self.rows.iter().position(Option::is_none).unwrap();
        self.rows[at] = Some(row);
        for key in message.keys() {
            self.claims[key] = Some(Holder::Row(at));
        }
    }

    pub(crate) fn advance(&mut self, owner: usize, stage: Stage) {
        self.open[owner].as_mut().unwrap().stage = stage;
    }

    /// Two are one too many; more are not told apart.
    pub(crate) fn count_effect(&mut self, event: usize) {
        self.effects[event] = (self.effects[event] + 1).min(2);
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut Row {
        self.rows[row].as_mut().unwrap()
    }

    pub(crate) fn row(&self, row: usize) -> &Row {
        self.rows[row].as_ref().unwrap()
    }

    /// The row of `event`, as everybody can read it.
    pub(crate) fn row_of(&self, event: usize) -> Option<&Row> {
        self.rows.iter().flatten().find(|row| row.event == event)
    }

    /// The guard of every write after `take`: token, state, and an end that has not come yet.
    pub(crate) fn is_held(&self, lease: Lease) -> bool {
        let row = self.row(lease.row);
        row.token == Some(lease.token) && row.stands == Stands::Processing { is_live: true }
    }
}

impl Row {
    pub(crate) fn new(event: usize, stands: Stands) -> Self {
        Self {
            event,
            stands,
            token: None,
            failures: 0,
            crashes: 0,
        }
    }
}

impl Delivery {
    /// Whether a 2xx was sent.
    pub(crate) fn is_answered(self) -> bool {
        matches!(self, Self::Acknowledged | Self::Answered | Self::Late)
    }
}
