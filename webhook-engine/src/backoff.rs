//! When a failed attempt is tried again.

use std::time::Duration;

/// Exponential backoff with jitter between half and the whole of each step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl Backoff {
    /// The pause after the `failures`-th failure, counted from 1.
    pub(crate) fn pause(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(30);
        let step = self.first.saturating_mul(1 << doublings).min(self.longest);
        step.mul_f64(rand::random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_within_jitter_up_to_the_longest() {
        let backoff = Backoff {
            first: Duration::from_secs(1),
            longest: Duration::from_mins(1),
        };
        for (failures, whole) in [(1, 1), (2, 2), (3, 4), (7, 60), (u32::MAX, 60)] {
            let whole = Duration::from_secs(whole);
            for _ in 0..50 {
                let pause = backoff.pause(failures);
                assert!(
                    pause >= whole / 2 && pause <= whole,
                    "{failures}: {pause:?}"
                );
            }
        }
    }
}
