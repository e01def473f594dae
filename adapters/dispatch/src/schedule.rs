//! When a delivery is attempted again, and when that is given up.

use std::time::{Duration, UNIX_EPOCH};

use webhook_core::outbox::Next;

/// Pauses between attempts. Default: 5 s, 1 m, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h: 11 attempts over
/// a little more than three days.
///
/// Each pause is drawn out by up to a quarter, so that deliveries which failed together do not come back
/// together, and never shortened: `Retry-After` is a promise.
#[derive(Debug, Clone)]
pub struct Schedule {
    pauses: Vec<Duration>,
    hopeless_attempts: u32,
}

/// Why a list of pauses is no schedule.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a schedule has at most 100 pauses, each of at most 7 days")]
pub struct InvalidSchedule;

impl Schedule {
    /// One attempt, and one more after each of these pauses.
    ///
    /// # Errors
    ///
    /// More than 100 pauses, or one of more than 7 days.
    pub fn new(pauses: impl IntoIterator<Item = Duration>) -> Result<Self, InvalidSchedule> {
        let pauses: Vec<Duration> = pauses.into_iter().take(101).collect();
        if pauses.len() > 100 || pauses.iter().any(|pause| *pause > LONGEST_PAUSE) {
            return Err(InvalidSchedule);
        }
        Ok(Self {
            pauses,
            hopeless_attempts: HOPELESS_ATTEMPTS,
        })
    }

    /// Attempts in all, of an answer that says that the request itself is at fault: a 4xx other than 408,
    /// 409, 425 and 429. Default: 5, since receivers answer 404 while they are deployed.
    #[must_use]
    pub fn hopeless_attempts(mut self, attempts: u32) -> Self {
        self.hopeless_attempts = attempts;
        self
    }

    /// Attempts in all.
    pub fn attempts(&self) -> u32 {
        u32::try_from(self.pauses.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// The longest that a delivery can take from its first attempt to its last, without `Retry-After`.
    pub fn span(&self) -> Duration {
        let whole: Duration = self.pauses.iter().sum();
        whole.saturating_add(whole.checked_div(4).unwrap_or_default())
    }

    /// The longest that a delivery waits for its next attempt, whatever `Retry-After` says.
    pub(crate) fn longest_pause(&self) -> Duration {
        let longest = self.pauses.iter().max().copied().unwrap_or_default();
        longest.max(LONGEST_RETRY_AFTER).mul_f64(1.25)
    }

    /// What follows the failure of attempt number `attempt`, counted from 1.
    pub(crate) fn after_failure(
        &self,
        attempt: u32,
        status: Option<u16>,
        retry_after: Option<Duration>,
    ) -> Next {
        let is_hopeless = status.is_some_and(|status| {
            (400..500).contains(&status) && !matches!(status, 408 | 409 | 425 | 429)
        });
        if is_hopeless && attempt >= self.hopeless_attempts {
            return Next::Dead;
        }
        let place = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        let Some(pause) = self.pauses.get(place) else {
            return Next::Dead;
        };
        let pause = pause.max(&retry_after.unwrap_or_default()).to_owned();
        Next::Retry(pause.mul_f64(rand::random_range(1.0..=1.25)))
    }
}

impl Default for Schedule {
    fn default() -> Self {
        const HOUR: u64 = 60 * 60;
        let secs = [
            5,
            60,
            5 * 60,
            30 * 60,
            2 * HOUR,
            5 * HOUR,
            10 * HOUR,
            14 * HOUR,
            20 * HOUR,
            24 * HOUR,
        ];
        Self {
            pauses: secs.map(Duration::from_secs).to_vec(),
            hopeless_attempts: HOPELESS_ATTEMPTS,
        }
    }
}

/// How long `Retry-After` asks to wait (RFC 9110 section 10.2.3), at most a day. What is neither seconds
/// nor a date, or a date that is over, asks for nothing.
pub(crate) fn retry_after(value: &[u8], now_secs: i64) -> Option<Duration> {
    let text = str::from_utf8(value).ok()?.trim();
    let asked = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number holds are a long time.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let date = httpdate::parse_http_date(text).ok()?;
        let date = date.duration_since(UNIX_EPOCH).ok()?;
        date.checked_sub(Duration::from_secs(now_secs.try_into().ok()?))?
    };
    Some(asked.min(LONGEST_RETRY_AFTER))
}

const HOPELESS_ATTEMPTS: u32 = 5;
const LONGEST_PAUSE: Duration = Duration::from_hours(7 * 24);
const LONGEST_RETRY_AFTER: Duration = Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(next: Next) -> Option<Duration> {
        match next {
            Next::Retry(pause) => Some(pause),
            _ => None,
        }
    }

    #[test]
    fn pauses_are_drawn_out_and_never_shortened() {
        let schedule = Schedule::default();
        for (attempt, whole) in [(1, 5), (2, 60), (10, 24 * 60 * 60)] {
            for _ in 0..100 {
                let pause = pause(schedule.after_failure(attempt, None, None)).unwrap();
                let whole = Duration::from_secs(whole);
                assert!(pause >= whole && pause <= whole + whole / 4, "{pause:?}");
            }
        }
        assert_eq!(schedule.after_failure(11, None, None), Next::Dead);
        assert_eq!(schedule.after_failure(u32::MAX, None, None), Next::Dead);
        assert_eq!(schedule.attempts(), 11);
        assert!(schedule.span() > Duration::from_hours(3 * 24));
    }

    #[test]
    fn retry_after_prolongs_a_pause_and_never_shortens_it() {
        let schedule = Schedule::default();
        let asked = |secs| {
            let next = schedule.after_failure(1, Some(503), Some(Duration::from_secs(secs)));
            pause(next).unwrap()
        };
        assert!(asked(100) >= Duration::from_secs(100));
        assert!(asked(1) >= Duration::from_secs(5));
    }

    #[test]
    fn answers_that_blame_the_request_are_believed_sooner() {
        let schedule = Schedule::default();
        for status in [400, 401, 404, 422, 499] {
            assert!(pause(schedule.after_failure(4, Some(status), None)).is_some());
            assert_eq!(schedule.after_failure(5, Some(status), None), Next::Dead);
        }
        for status in [302, 408, 409, 425, 429, 500, 503, 599] {
            let next = schedule.after_failure(5, Some(status), None);
            assert!(pause(next).is_some(), "{status}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = 784_111_777;
        let asked = |text: &str| retry_after(text.as_bytes(), now);
        assert_eq!(asked("120"), Some(Duration::from_mins(2)));
        assert_eq!(asked(" 0 "), Some(Duration::ZERO));
        assert_eq!(asked("9999999999"), Some(LONGEST_RETRY_AFTER));
        assert_eq!(asked(&"9".repeat(40)), Some(LONGEST_RETRY_AFTER));
        let date = "Sun, 06 Nov 1994 08:49:47 GMT";
        assert_eq!(asked(date), Some(Duration::from_secs(10)));
        for nothing in ["", "-5", "1.5", "soon", "Sun, 06 Nov 1994 08:49:27 GMT"] {
            assert_eq!(asked(nothing), None, "{nothing}");
        }
        assert_eq!(retry_after(&[0xff], now), None);
    }

    #[test]
    fn a_schedule_has_bounds() {
        assert!(Schedule::new(vec![Duration::ZERO; 101]).is_err());
        assert!(Schedule::new([LONGEST_PAUSE + Duration::from_nanos(1)]).is_err());
        let once = Schedule::new([]).unwrap();
        assert_eq!(once.after_failure(1, None, None), Next::Dead);
    }
}
