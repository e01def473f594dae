//! A process-wide bound on unauthenticated bytes in flight.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// Bytes received and not yet authenticated, over all requests of the process.
///
/// Bytes are charged as they arrive, never as announced. When they run out, the slowest body is
/// dropped, not the newest: a caller that stalls many uploads only loses its own.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Mutex<Account>>);

/// One request's share of the budget; released when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Budget,
    id: u64,
    evicted: Arc<Notify>,
}

/// The budget ran out and this body was the slowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Evicted;

#[derive(Debug)]
struct Account {
    left: usize,
    next_id: u64,
    open: HashMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    since: Instant,
    bytes: usize,
    evicted: Option<Arc<Notify>>,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Mutex::new(Account {
            left: bytes,
            next_id: 0,
            open: HashMap::new(),
        })))
    }

    /// Open a share for one request.
    pub(crate) fn open(&self) -> Share {
        let evicted = Arc::new(Notify::new());
        let id = self.with(|account| {
            let id = account.next_id;
            account.next_id = id.wrapping_add(1);
            account.open.insert(
                id,
                Entry {
                    since: Instant::now(),
                    bytes: 0,
                    evicted: Some(evicted.clone()),
                },
            );
            id
        });
        Share {
            budget: self.clone(),
            id,
            evicted,
        }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Account) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Share {
    /// Charge bytes that have arrived.
    ///
    /// # Errors
    ///
    /// [`Evicted`] if this body has to go.
    pub(crate) fn charge(&self, bytes: usize) -> Result<(), Evicted> {
        self.budget.with(|account| account.charge(self.id, bytes))
    }

    /// Resolves when this body has to go.
    pub(crate) async fn evicted(&self) -> Evicted {
        self.evicted.notified().await;
        Evicted
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.with(|account| account.close(self.id));
    }
}

impl Account {
    fn charge(&mut self, id: u64, bytes: usize) -> Result<(), Evicted> {
        while bytes > self.left {
            let slowest = self.slowest().ok_or(Evicted)?;
            self.evict(slowest);
            if slowest == id {
                return Err(Evicted);
            }
        }
        let entry = self.open.get_mut(&id).ok_or(Evicted)?;
        if entry.evicted.is_none() {
            return Err(Evicted);
        }
        entry.bytes = entry.bytes.saturating_add(bytes);
        self.left = self.left.saturating_sub(bytes);
        Ok(())
    }

    /// The open body with the lowest rate so far, among those that hold bytes.
    fn slowest(&self) -> Option<u64> {
        let now = Instant::now();
        let rate = |entry: &Entry| {
            #[expect(clippy::cast_precision_loss, reason = "only compared")]
            let bytes = entry.bytes as f64;
            bytes / now.duration_since(entry.since).as_secs_f64().max(1e-6)
        };
        self.open
            .iter()
            .filter(|(_, entry)| entry.evicted.is_some() && entry.bytes > 0)
            .min_by(|(_, a), (_, b)| rate(a).total_cmp(&rate(b)))
            .map(|(id, _)| *id)
    }

    fn evict(&mut self, id: u64) {
        if let Some(entry) = self.open.get_mut(&id)
            && let Some(evicted) = entry.evicted.take()
        {
            evicted.notify_one();
            self.left = self.left.saturating_add(entry.bytes);
            entry.bytes = 0;
        }
    }

    fn close(&mut self, id: u64) {
        if let Some(entry) = self.open.remove(&id) {
            self.left = self.left.saturating_add(entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_body_goes_and_everything_is_given_back() {
        let budget = Budget::new(100);
        let stalled = budget.open();
        stalled.charge(60).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let fresh = budget.open();
        fresh.charge(40).unwrap();
        fresh.charge(30).unwrap(); // evicts the stalled one
        assert_eq!(stalled.charge(1), Err(Evicted));
        drop(stalled);
        drop(fresh);
        assert_eq!(
            budget.with(|account| (account.left, account.open.len())),
            (100, 0)
        );
    }

    #[test]
    fn a_body_larger_than_the_budget_goes_itself() {
        let budget = Budget::new(10);
        let share = budget.open();
        assert_eq!(share.charge(11), Err(Evicted));
        drop(share);
        assert_eq!(budget.with(|account| account.left), 10);
    }

    #[tokio::test]
    async fn an_evicted_body_is_woken() {
        let budget = Budget::new(10);
        let stalled = budget.open();
        stalled.charge(10).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let fresh = budget.open();
        fresh.charge(5).unwrap();
        assert_eq!(stalled.evicted().await, Evicted);
    }
}
