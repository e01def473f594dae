//! The two-sided replay window.

use std::time::Duration;

use crate::timestamp::{Arrival, Timestamp};

/// How far a signed timestamp may lie from our clock, on each side, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    past_secs: u32,
    future_secs: u32,
}

/// Longest tolerance of one side: 30 days.
const MAX_SECS: u32 = 30 * 24 * 3600;

/// What a timestamp is worth at one moment.
#[expect(
    clippy::exhaustive_enums,
    reason = "a timestamp is before, inside or after the window"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Inside the window, or the provider signs no timestamp.
    Fresh,
    /// Ahead of our clock by this many seconds, more than the future tolerance.
    Future {
        /// Distance to our clock.
        by_secs: u64,
    },
    /// Behind our clock by this many seconds, more than the past tolerance.
    Stale {
        /// Distance to our clock.
        by_secs: u64,
    },
}

/// A tolerance that is no tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a replay window is between 1 second and 30 days on each side and cannot be switched off")]
#[expect(clippy::exhaustive_structs, reason = "carries nothing")]
pub struct WindowError;

impl Window {
    /// Five minutes on both sides.
    pub const FIVE_MINUTES: Self = Self {
        past_secs: 300,
        future_secs: 300,
    };

    /// The same tolerance on both sides, in seconds.
    ///
    /// # Panics
    ///
    /// On zero and on more than 30 days; in a `const`, at compile time.
    pub const fn both_sides(secs: u32) -> Self {
        assert!(
            secs > 0 && secs <= MAX_SECS,
            "a window cannot be switched off"
        );
        Self {
            past_secs: secs,
            future_secs: secs,
        }
    }

    /// Separate tolerances, inclusive, in whole seconds (fractions are refused).
    ///
    /// # Errors
    ///
    /// Zero, fractions, and more than 30 days: a window cannot be switched off.
    pub const fn new(past: Duration, future: Duration) -> Result<Self, WindowError> {
        match (Self::secs(past), Self::secs(future)) {
            (Some(past_secs), Some(future_secs)) => Ok(Self {
                past_secs,
                future_secs,
            }),
            _ => Err(WindowError),
        }
    }

    /// Judge `timestamp` at `arrival`.
    pub fn judge(&self, timestamp: &Timestamp<'_>, arrival: Arrival) -> Freshness {
        // A fraction of a second beyond an end is beyond it: each side rounds away from our clock.
        let (down, up) = (timestamp.unix_secs(), timestamp.unix_secs_ceil());
        let now = arrival.unix_secs();
        let (past, future) = (now.abs_diff(down), up.abs_diff(now));
        if down < now && past > u64::from(self.past_secs) {
            Freshness::Stale { by_secs: past }
        } else if up > now && future > u64::from(self.future_secs) {
            Freshness::Future { by_secs: future }
        } else {
            Freshness::Fresh
        }
    }

    /// Past tolerance.
    pub fn past(&self) -> Duration {
        Duration::from_secs(self.past_secs.into())
    }

    /// Future tolerance.
    pub fn future(&self) -> Duration {
        Duration::from_secs(self.future_secs.into())
    }

    const fn secs(duration: Duration) -> Option<u32> {
        let secs = duration.as_secs();
        if secs == 0 || secs > MAX_SECS as u64 || duration.subsec_nanos() != 0 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 30 days")]
        Some(secs as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_inclusive_on_both_sides() {
        let at = |text: &'static str| {
            Window::FIVE_MINUTES.judge(&Timestamp::seconds(text).unwrap(), Arrival(1_000_000))
        };
        assert_eq!(at("999700"), Freshness::Fresh);
        assert_eq!(at("999699"), Freshness::Stale { by_secs: 301 });
        assert_eq!(at("1000300"), Freshness::Fresh);
        assert_eq!(at("1000301"), Freshness::Future { by_secs: 301 });
        assert_eq!(at("0"), Freshness::Stale { by_secs: 1_000_000 });
    }

    #[test]
    fn fractions_of_a_second_count() {
        let at = |text: &'static str| {
            Window::FIVE_MINUTES.judge(&Timestamp::millis(text).unwrap(), Arrival(1_000_000))
        };
        assert_eq!(at("999700000"), Freshness::Fresh);
        assert_eq!(at("999699999"), Freshness::Stale { by_secs: 301 });
        assert_eq!(at("1000300000"), Freshness::Fresh);
        assert_eq!(at("1000300001"), Freshness::Future { by_secs: 301 });
        assert_eq!(at("1000000001"), Freshness::Fresh);
    }

    #[test]
    fn sides_are_separate_and_extreme_clocks_do_not_overflow() {
        let window = Window::new(Duration::from_secs(10), Duration::from_secs(1)).unwrap();
        let judge = |text, now| window.judge(&Timestamp::seconds(text).unwrap(), Arrival(now));
        assert_eq!(judge("100", 110), Freshness::Fresh);
        assert_eq!(judge("100", 99), Freshness::Fresh);
        assert_eq!(judge("100", 98), Freshness::Future { by_secs: 2 });
        assert!(matches!(
            judge("999999999999999", i64::MIN),
            Freshness::Future { .. }
        ));
        assert!(matches!(judge("0", i64::MAX), Freshness::Stale { .. }));
    }

    #[test]
    fn a_window_cannot_be_switched_off() {
        let second = Duration::from_secs(1);
        assert!(Window::new(second, second).is_ok());
        for bad in [Duration::ZERO, Duration::MAX, Duration::from_millis(1500)] {
            assert_eq!(Window::new(bad, second), Err(WindowError));
            assert_eq!(Window::new(second, bad), Err(WindowError));
        }
        assert_eq!(Window::both_sides(300), Window::FIVE_MINUTES);
        for bad in [0, MAX_SECS + 1] {
            assert!(std::panic::catch_unwind(|| Window::both_sides(bad)).is_err());
        }
    }
}
