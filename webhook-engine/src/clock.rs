//! The system's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use webhook_core::Clock;

/// The operating system's wall clock.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SystemClock;

impl Clock for SystemClock {
    fn unix_secs(&self) -> i64 {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that reads the clock"
        )]
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        // Before 1970 every timestamp is in the future, and is refused as such.
        since.map_or(0, |since| {
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
        })
    }
}
