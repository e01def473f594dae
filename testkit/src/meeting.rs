//! A place where several must be before any goes on: it widens a critical section to hold all of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// A barrier that gives up waiting.
///
/// Put one between a check and what depends on it, in a handler or a receiver under test, and run as many
/// deliveries as it waits for: if the check does not keep them apart, all of them pass it. If it does, only one
/// comes, waits for a moment, and goes on.
#[derive(Debug)]
pub struct Meeting {
    size: usize,
    arrived: AtomicUsize,
    complete: watch::Sender<bool>,
    patience: Duration,
}

impl Meeting {
    /// A meeting of `size`. Whoever waited for half a second goes on alone.
    pub fn of(size: usize) -> Self {
        Self {
            size,
            arrived: AtomicUsize::new(0),
            complete: watch::Sender::new(false),
            patience: Duration::from_millis(500),
        }
    }

    /// The longest wait.
    #[must_use]
    pub fn patience(mut self, longest: Duration) -> Self {
        self.patience = longest;
        self
    }

    /// Wait until all are there. `false` if they did not come.
    pub async fn arrive(&self) -> bool {
        let number = self.arrived.fetch_add(1, Ordering::SeqCst) + 1;
        if number >= self.size {
            self.complete.send_replace(true);
            return true;
        }
        let mut complete = self.complete.subscribe();
        let all = complete.wait_for(|complete| *complete);
        tokio::time::timeout(self.patience, all).await.is_ok()
    }

    /// How many came, those who went on alone among them.
    pub fn arrived(&self) -> usize {
        self.arrived.load(Ordering::SeqCst)
    }
}
