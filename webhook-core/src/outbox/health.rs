//! How an endpoint fares: its breaker, and when its owner should hear of it.
//!
//! | state | attempts | leaves it |
//! |---|---|---|
//! | closed | as many as the endpoint takes; one while it has not answered well yet, or answers slowly | `open_after` failures in a row: open |
//! | open | none | after a pause that doubles each time: half open |
//! | half open | one | success: closed; failure: open, twice as long |
//!
//! A slow success delivers, and counts against the endpoint all the same: many of them would
//! hold every place a dispatcher has.

use std::time::Duration;

/// How an endpoint has fared. Times are in Unix milliseconds of the store's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Health {
    /// Failures since the last success.
    pub failures: u32,
    /// Slow successes since the last quick one.
    pub slow: u32,
    /// Whether it ever answered well since it was enabled.
    pub is_proven: bool,
    /// Since when it has been failing.
    pub failing_since: Option<i64>,
    /// Until when the breaker is open.
    pub open_until: Option<i64>,
    /// Whether its owner was told that it is failing.
    pub is_noticed: bool,
}

/// When health changes what is done.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HealthPolicy {
    /// Failures in a row after which nothing is sent for a while. Default: 5.
    pub open_after: u32,
    /// How long the first time. It doubles each time after. Default: 5 s.
    pub first_pause: Duration,
    /// How long at most. Default: 10 minutes.
    pub longest_pause: Duration,
    /// Slow successes in a row after which one attempt is made at a time. Default: 3.
    pub slow_after: u32,
    /// The owner hears of an endpoint that has failed for this long. Default: 1 day.
    pub notice_after: Duration,
    /// An endpoint that has failed for this long is disabled. Default: 5 days.
    pub disable_after: Duration,
}

/// What an attempt says of its endpoint.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// It did not answer 2xx.
    Failed,
    /// It says that it is gone for good.
    Gone,
    /// Nothing: the fault was not its own.
    Nothing,
    /// 2xx, but late.
    Slow,
    /// 2xx.
    Well,
}

/// What is known of an endpoint.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repute {
    /// It failed and never answered well, its breaker was open and nothing came through since, or it
    /// answers slowly.
    Bad,
    /// It has answered well.
    Good,
    /// It was never asked.
    New,
}

/// What became of an endpoint.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It answers again.
    Closed,
    /// It failed for too long, and is disabled.
    Disabled,
    /// It has failed for a while: its owner is told.
    Failing,
    /// It says that it is gone, and is disabled.
    Gone,
    /// Nothing is sent to it for a while.
    Opened,
}

impl Health {
    /// What `beats`, in the order in which they ended, make of it at `now_millis`; and what changed.
    #[must_use]
    pub fn after(
        self,
        beats: impl IntoIterator<Item = Beat>,
        now_millis: i64,
        policy: &HealthPolicy,
    ) -> (Self, Vec<Change>) {
        let mut health = self;
        let mut changes = Vec::new();
        for beat in beats {
            match beat {
                Beat::Nothing => {}
                Beat::Well | Beat::Slow => {
                    if health.open_until.is_some() {
                        changes.push(Change::Closed);
                    }
                    let slow = if beat == Beat::Slow {
                        health.slow.saturating_add(1)
                    } else {
                        0
                    };
                    health = Self {
                        slow,
                        is_proven: true,
                        ..Self::default()
                    };
                }
                Beat::Gone => {
                    changes.push(Change::Gone);
                    return (health, changes);
                }
                Beat::Failed => {
                    // Of attempts that were under way when it opened, none opens it further.
                    let is_open = health.open_until.is_some_and(|until| now_millis < until);
                    health.failures = health.failures.saturating_add(u32::from(!is_open));
                    health.failing_since.get_or_insert(now_millis);
                    if !is_open && health.failures >= policy.open_after {
                        let pause = policy.pause(health.failures);
                        health.open_until = Some(now_millis.saturating_add(millis(pause)));
                        changes.push(Change::Opened);
                    }
                }
            }
        }
        if let Some(since) = health.failing_since {
            let failing = now_millis.saturating_sub(since);
            if failing >= millis(policy.disable_after) {
                changes.push(Change::Disabled);
            } else if failing >= millis(policy.notice_after) && !health.is_noticed {
                health.is_noticed = true;
                changes.push(Change::Failing);
            }
        }
        (health, changes)
    }

    /// How many attempts may be under way at `now_millis`, of an endpoint that takes `in_flight`.
    pub fn room(&self, in_flight: u32, now_millis: i64, policy: &HealthPolicy) -> u32 {
        if self.open_until.is_some_and(|until| now_millis < until) {
            0
        } else if self.repute(policy) == Repute::Good {
            in_flight
        } else {
            in_flight.min(1)
        }
    }

    /// What is known of it. All but [`Repute::Good`] make one attempt at a time.
    pub fn repute(&self, policy: &HealthPolicy) -> Repute {
        if self.open_until.is_some() || self.slow >= policy.slow_after {
            Repute::Bad
        } else if self.is_proven {
            Repute::Good
        } else if self.failures == 0 {
            Repute::New
        } else {
            Repute::Bad
        }
    }
}

impl HealthPolicy {
    fn pause(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(self.open_after).min(30);
        self.first_pause
            .saturating_mul(1 << doublings)
            .min(self.longest_pause)
    }
}

impl Default for HealthPolicy {
    fn default() -> Self {
        Self {
            open_after: 5,
            first_pause: Duration::from_secs(5),
            longest_pause: Duration::from_mins(10),
            slow_after: 3,
            notice_after: Duration::from_hours(24),
            disable_after: Duration::from_hours(5 * 24),
        }
    }
}

impl Change {
    /// Whether the endpoint is disabled by it, and why in a word for its owner.
    pub const fn disables(self) -> Option<&'static str> {
        match self {
            Self::Disabled => Some("failing"),
            Self::Gone => Some("gone"),
            Self::Closed | Self::Failing | Self::Opened => None,
        }
    }

    /// Its name in metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Disabled => "disabled",
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Opened => "opened",
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: fn() -> HealthPolicy = HealthPolicy::default;

    fn after(health: Health, beats: &[Beat], now: i64) -> (Health, Vec<Change>) {
        health.after(beats.iter().copied(), now, &POLICY())
    }

    #[test]
    fn five_failures_in_a_row_open_and_one_success_closes() {
        let (four, changes) = after(Health::default(), &[Beat::Failed; 4], 0);
        assert_eq!((four.open_until, changes), (None, vec![]));
        let (five, changes) = after(four, &[Beat::Failed], 0);
        assert_eq!(
            (five.open_until, changes),
            (Some(5_000), vec![Change::Opened])
        );
        let (well, changes) = after(five, &[Beat::Well], 5_000);
        assert_eq!(changes, [Change::Closed]);
        assert_eq!(
            well,
            Health {
                is_proven: true,
                ..Health::default()
            }
        );
    }

    #[test]
    fn a_success_between_starts_the_count_again() {
        let beats = [&[Beat::Failed; 4][..], &[Beat::Well], &[Beat::Failed; 4]].concat();
        assert_eq!(after(Health::default(), &beats, 0).1, []);
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let (mut health, _) = after(Health::default(), &[Beat::Failed; 5], 0);
        let mut now = 0;
        for pause in [5, 10, 20, 40, 80, 160, 320, 600, 600] {
            assert_eq!(health.open_until, Some(now + pause * 1000));
            now = health.open_until.unwrap();
            health = after(health, &[Beat::Failed], now).0;
        }
    }

    #[test]
    fn attempts_under_way_when_it_opened_do_not_open_it_further() {
        let (open, _) = after(Health::default(), &[Beat::Failed; 5], 0);
        let (still, changes) = after(open, &[Beat::Failed; 100], 4_999);
        assert_eq!((still, changes), (open, vec![]));
    }

    #[test]
    fn slow_successes_leave_one_place() {
        let policy = POLICY();
        let (slow, changes) = after(Health::default(), &[Beat::Slow; 3], 0);
        assert_eq!((slow.room(4, 0, &policy), changes), (1, vec![]));
        assert_eq!(after(slow, &[Beat::Well], 0).0.room(4, 0, &policy), 4);
    }

    #[test]
    fn room_is_one_until_proven_none_while_open_one_while_half_open() {
        let policy = POLICY();
        assert_eq!(Health::default().room(4, 0, &policy), 1);
        let (open, _) = after(
            Health::default(),
            &[Beat::Well, Beat::Failed, Beat::Failed],
            0,
        );
        assert_eq!(open.room(4, 0, &policy), 4);
        let (open, _) = after(open, &[Beat::Failed; 3], 0);
        assert_eq!(open.room(4, 4_999, &policy), 0);
        assert_eq!(open.room(4, 5_000, &policy), 1);
    }

    #[test]
    fn the_owner_is_told_once_and_then_it_is_disabled() {
        let day = 24 * 60 * 60 * 1000;
        let (health, _) = after(Health::default(), &[Beat::Failed], 0);
        assert_eq!(after(health, &[Beat::Failed], day - 1).1, []);
        let (told, changes) = after(health, &[Beat::Failed], day);
        assert_eq!(changes, [Change::Failing]);
        assert_eq!(after(told, &[Beat::Nothing], day + 1).1, []);
        assert_eq!(after(told, &[Beat::Nothing], 5 * day).1, [Change::Disabled]);
    }

    #[test]
    fn gone_is_gone_whatever_follows() {
        let (_, changes) = after(Health::default(), &[Beat::Gone, Beat::Well], 0);
        assert_eq!(changes, [Change::Gone]);
        assert_eq!(Change::Gone.disables(), Some("gone"));
    }
}
