//! Times and durations as they are typed.

use std::time::Duration;

use webhook_core::{Clock as _, TimestampForm};
use webhook_engine::SystemClock;

/// Now, in Unix seconds.
pub(crate) fn now() -> i64 {
    SystemClock::default().unix_secs()
}

/// A moment: `now`, Unix seconds, RFC 3339 in UTC, or a distance from now such as `-10m`.
///
/// # Errors
///
/// What it should look like.
pub(crate) fn parse_time(text: &str) -> Result<i64, String> {
    let relative = |rest: &str, sign: i64| {
        let secs = i64::try_from(parse_duration(rest)?.as_secs()).unwrap_or(i64::MAX);
        Ok(now().saturating_add(secs.saturating_mul(sign)))
    };
    if text == "now" {
        return Ok(now());
    }
    if let Some(rest) = text.strip_prefix('-') {
        return relative(rest, -1);
    }
    if let Some(rest) = text.strip_prefix('+') {
        return relative(rest, 1);
    }
    let form = if text.contains('T') {
        TimestampForm::Rfc3339
    } else {
        TimestampForm::Seconds
    };
    form.read(text)
        .map(|read| read.unix_secs())
        .map_err(|_| "expected `now`, Unix seconds, `2026-01-31T12:00:00Z` or a distance from now such as `-10m`".to_owned())
}

/// A duration: a whole number and `s`, `m`, `h` or `d`; seconds without one.
///
/// # Errors
///
/// What it should look like.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (text.get(..at), 1),
        Some((at, 'm')) => (text.get(..at), 60),
        Some((at, 'h')) => (text.get(..at), 3600),
        Some((at, 'd')) => (text.get(..at), 24 * 3600),
        _ => (Some(text), 1),
    };
    number
        .and_then(|number| number.parse::<u64>().ok())
        .and_then(|number| number.checked_mul(unit))
        .map(Duration::from_secs)
        .ok_or_else(|| {
            "expected a whole number and `s`, `m`, `h` or `d`, for example `90s`".to_owned()
        })
}

/// Unix seconds in RFC 3339.
pub(crate) fn show_time(unix_secs: i64) -> String {
    TimestampForm::Rfc3339.write(unix_secs)
}

/// Seconds as a person says them.
pub(crate) fn show_secs(secs: u64) -> String {
    match secs {
        0..=119 => format!("{secs} s"),
        120..=7199 => format!("{secs} s ({} min)", secs / 60),
        7200..=172_799 => format!("{secs} s ({} h)", secs / 3600),
        _ => format!("{secs} s ({} days)", secs / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_four_spellings() {
        assert_eq!(parse_time("1750000000"), Ok(1_750_000_000));
        assert_eq!(parse_time("2025-06-15T15:06:40Z"), Ok(1_750_000_000));
        let before = now();
        let ago = parse_time("-10m").unwrap();
        assert!((before - 600..=now() - 600).contains(&ago));
        for bad in ["", "yesterday", "-", "+1w", "1.5", "2025-06-15"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("2h"), Ok(Duration::from_hours(2)));
        assert_eq!(parse_duration("7"), Ok(Duration::from_secs(7)));
        for bad in ["", "h", "1y", "-1s", "99999999999999999999d"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
