//! Named places in an event's way through the ledger, and what a test lets happen there.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use webhook_core::ledger::{LedgerError, LedgerFault};

use crate::meeting::Meeting;

/// A place in an event's way. Before: the ledger was not asked yet. After: it did as it was asked, and nobody was
/// told yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Point {
    /// A verified delivery is about to be claimed.
    BeforeClaim,
    /// It is claimed and stored; the provider has no answer yet.
    AfterClaim,
    /// Events are about to be leased.
    BeforeTake,
    /// They are leased, and no handler ran yet.
    AfterTake,
    /// A handler's transaction is about to begin.
    BeforeBegin,
    /// It began, and the handler is about to run.
    AfterBegin,
    /// The handler is done; its effect is not committed yet.
    BeforeComplete,
    /// Effect and completion are committed.
    AfterComplete,
    /// The handler failed, and nothing of that is recorded yet.
    BeforeFail,
    /// It is recorded.
    AfterFail,
}

/// What happens at a point.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Act {
    /// The process is gone: from here on nothing of it reaches the store, and nobody gets an answer.
    Crash,
    /// It takes this much longer.
    Delay(Duration),
    /// The store fails. After the point that is a failure whose outcome nobody knows.
    Fail,
    /// All of a meeting come here before any goes on.
    Meet(Arc<Meeting>),
}

/// What a test has planned. Clones are one stage.
#[derive(Debug, Clone, Default)]
pub struct Stage(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    crashed: AtomicBool,
    plans: Mutex<HashMap<Point, VecDeque<Act>>>,
    reached: Mutex<HashMap<Point, usize>>,
}

impl Stage {
    /// Let `act` happen to the next one who comes to `point`; to the one after, if something is planned for the next.
    pub fn at(&self, point: Point, act: Act) {
        self.plans().entry(point).or_default().push_back(act);
    }

    /// Let the next `size` who come to `point` meet there.
    pub fn meet(&self, point: Point, size: usize) {
        let meeting = Arc::new(Meeting::of(size));
        for _ in 0..size {
            self.at(point, Act::Meet(Arc::clone(&meeting)));
        }
    }

    /// Forget what is planned for `point`.
    pub fn clear(&self, point: Point) {
        self.plans().remove(&point);
    }

    /// How many came to `point`.
    pub fn reached(&self, point: Point) -> usize {
        let reached = self.0.reached.lock().unwrap();
        reached.get(&point).copied().unwrap_or_default()
    }

    /// Whether an [`Act::Crash`] happened.
    pub fn is_crashed(&self) -> bool {
        self.0.crashed.load(Ordering::SeqCst)
    }

    /// Somebody is at `point`.
    pub(crate) async fn reach(&self, point: Point) -> Result<(), LedgerError> {
        self.alive()?;
        *self.0.reached.lock().unwrap().entry(point).or_default() += 1;
        let act = self.plans().get_mut(&point).and_then(VecDeque::pop_front);
        match act {
            None => {}
            Some(Act::Crash) => self.0.crashed.store(true, Ordering::SeqCst),
            Some(Act::Delay(length)) => tokio::time::sleep(length).await,
            Some(Act::Fail) => return Err(unavailable("the test lets the store fail here")),
            Some(Act::Meet(meeting)) => drop(meeting.arrive().await),
        }
        self.alive()
    }

    /// Whether something is planned for `point`.
    pub(crate) fn has_plans(&self, point: Point) -> bool {
        self.plans()
            .get(&point)
            .is_some_and(|acts| !acts.is_empty())
    }

    /// Nothing happens after a crash.
    pub(crate) fn alive(&self) -> Result<(), LedgerError> {
        if self.is_crashed() {
            return Err(unavailable("the process crashed"));
        }
        Ok(())
    }

    fn plans(&self) -> MutexGuard<'_, HashMap<Point, VecDeque<Act>>> {
        self.0.plans.lock().unwrap()
    }
}

fn unavailable(why: &'static str) -> LedgerError {
    LedgerError::new(LedgerFault::Unavailable, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_planned_happens_once_and_in_order() {
        let stage = Stage::default();
        stage.at(Point::AfterClaim, Act::Fail);
        stage.at(Point::AfterClaim, Act::Crash);
        assert!(stage.reach(Point::BeforeClaim).await.is_ok());
        assert!(stage.reach(Point::AfterClaim).await.is_err());
        assert!(!stage.is_crashed());
        assert!(stage.reach(Point::AfterClaim).await.is_err());
        assert!(stage.is_crashed());
        assert!(
            stage.reach(Point::BeforeClaim).await.is_err(),
            "nothing after a crash"
        );
        assert_eq!(stage.reached(Point::AfterClaim), 2);
        assert_eq!(stage.reached(Point::BeforeClaim), 1);
    }

    #[tokio::test]
    async fn those_who_meet_are_all_there() {
        let stage = Stage::default();
        stage.meet(Point::BeforeClaim, 2);
        let both = tokio::join!(
            stage.reach(Point::BeforeClaim),
            stage.reach(Point::BeforeClaim)
        );
        assert!(both.0.is_ok() && both.1.is_ok());
        stage.meet(Point::BeforeClaim, 2);
        stage.clear(Point::BeforeClaim);
        assert!(!stage.has_plans(Point::BeforeClaim));
    }
}
