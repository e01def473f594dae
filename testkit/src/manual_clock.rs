//! A clock that stands still until a test turns it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use webhook_core::Clock;

/// A clock that tests turn. Clones are one clock.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that shows `unix_secs`.
    pub fn at(unix_secs: i64) -> Self {
        Self(Arc::new(AtomicI64::new(unix_secs)))
    }

    /// Let it show `unix_secs`, be it earlier or later.
    pub fn set(&self, unix_secs: i64) {
        self.0.store(unix_secs, Ordering::SeqCst);
    }

    /// Turn it by so many seconds, negative ones back.
    pub fn turn(&self, secs: i64) {
        self.0.fetch_add(secs, Ordering::SeqCst);
    }

    /// What it shows, in Unix seconds.
    pub fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Clock for ManualClock {
    fn unix_secs(&self) -> i64 {
        self.now()
    }
}
