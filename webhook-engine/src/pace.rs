//! How far ahead of its handlers an endpoint takes events: as far as they get in a moment.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What runs of this process took lately. Until one has ended nothing is taken ahead.
#[derive(Debug)]
pub(crate) struct Pace(Mutex<Lately>);

#[derive(Debug)]
struct Lately {
    /// A running mean.
    nanos: u64,
    /// The largest payload, slowly forgotten.
    bytes: u64,
}

/// As long as an event that was taken ahead should wait for its turn: another replica might have run it.
const HORIZON: Duration = Duration::from_millis(50);
/// Most events, and most bytes of payloads, that are taken ahead.
const MOST_EVENTS: u64 = 64;
const MOST_BYTES: u64 = 8 * 1024 * 1024;

impl Pace {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Lately {
            nanos: u64::MAX,
            bytes: 0,
        }))
    }

    /// A handler ran for so long, on a payload of so many bytes.
    pub(crate) fn ran(&self, took: Duration, payload: usize) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let payload = u64::try_from(payload).unwrap_or(u64::MAX);
        let mut lately = self.lately();
        lately.nanos = match lately.nanos {
            u64::MAX => took,
            mean => mean.saturating_mul(7).saturating_add(took).div_ceil(8),
        };
        let faded = lately.bytes.saturating_sub(lately.bytes.div_ceil(16));
        lately.bytes = faded.max(payload);
    }

    /// Nothing moves: take nothing ahead until a run has ended.
    pub(crate) fn stalled(&self) {
        self.lately().nanos = u64::MAX;
    }

    /// How many events to take beyond the `places` that run at once.
    pub(crate) fn ahead(&self, places: usize) -> usize {
        let lately = self.lately();
        let horizon = u64::try_from(HORIZON.as_nanos()).unwrap_or(u64::MAX);
        let places = u64::try_from(places).unwrap_or(u64::MAX);
        let in_time = horizon
            .saturating_mul(places)
            .div_euclid(lately.nanos.max(1));
        let in_bytes = MOST_BYTES.div_euclid(lately.bytes.max(1));
        usize::try_from(in_time.min(in_bytes).min(MOST_EVENTS)).unwrap_or(usize::MAX)
    }

    fn lately(&self) -> std::sync::MutexGuard<'_, Lately> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(runs: u32, took: Duration, payload: usize) -> Pace {
        let pace = Pace::new();
        for _ in 0..runs {
            pace.ran(took, payload);
        }
        pace
    }

    #[test]
    fn nothing_is_taken_ahead_of_what_was_never_seen_to_end() {
        assert_eq!(Pace::new().ahead(4), 0);
        let pace = after(9, Duration::from_micros(10), 10);
        pace.stalled();
        assert_eq!(pace.ahead(4), 0);
    }

    #[test]
    fn as_much_is_taken_ahead_as_runs_in_a_moment() {
        assert_eq!(after(9, Duration::from_secs(1), 10).ahead(4), 0);
        assert_eq!(after(9, Duration::from_millis(50), 10).ahead(4), 4);
        assert_eq!(after(9, Duration::from_millis(10), 10).ahead(1), 5);
        assert_eq!(after(9, Duration::from_nanos(1), 10).ahead(4), 64);
    }

    #[test]
    fn large_payloads_are_not_piled_up() {
        let pace = after(1, Duration::from_micros(1), 4 * 1024 * 1024);
        assert_eq!(pace.ahead(4), 2);
        for _ in 0..100 {
            pace.ran(Duration::from_micros(1), 10);
        }
        assert_eq!(pace.ahead(4), 64);
    }

    #[test]
    fn a_handler_that_slows_down_is_noticed() {
        let pace = after(100, Duration::from_micros(10), 10);
        for _ in 0..4 {
            pace.ran(Duration::from_secs(10), 10);
        }
        assert_eq!(pace.ahead(4), 0);
    }
}
