//! Moments in the calendar's words: `2025-06-15T15:06:40.618908427Z`, and nothing looser.

/// The first and the last second that four digits of a year can name.
const RANGE: (i64, i64) = (-62_167_219_200, 253_402_300_799);
const DAY_SECS: i64 = 86_400;

/// Read RFC 3339 in UTC as whole Unix seconds, and whether a fraction follows that is not zero.
///
/// `T` and `Z` are upper case, a fraction has one to nine digits, there is no offset and no leap second: senders
/// write one form, and where a timestamp is joined to other parts without a separator, that form alone tells where it ends.
pub(crate) fn read(text: &str) -> Option<(i64, bool)> {
    let (whole, rest) = text.as_bytes().split_at_checked(19)?;
    let fraction = match rest {
        [b'Z'] => &[],
        [b'.', digits @ .., b'Z'] if (1..=9).contains(&digits.len()) => digits,
        _ => return None,
    };
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| whole.get(*at) != Some(mark)) {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = whole.get(from..to)?;
        let all = digits.iter().all(u8::is_ascii_digit);
        all.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let days = days(year, month, day);
    // A day that the month has not comes back as another one.
    if civil(days) != (year, month, day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let within = hour
        .wrapping_mul(3600)
        .wrapping_add(minute.wrapping_mul(60))
        .wrapping_add(second);
    let unix_secs = days.wrapping_mul(DAY_SECS).wrapping_add(within);
    Some((unix_secs, fraction.iter().any(|digit| *digit != b'0')))
}

/// Write whole Unix seconds so that [`read`] reads them. Moments beyond the years 0000 to 9999 become the nearest one.
pub(crate) fn write(unix_secs: i64) -> String {
    let unix_secs = unix_secs.clamp(RANGE.0, RANGE.1);
    let (year, month, day) = civil(unix_secs.div_euclid(DAY_SECS));
    let within = unix_secs.rem_euclid(DAY_SECS);
    let (hour, minute, second) = (within / 3600, within / 60 % 60, within % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Days from 1 January 1970 to a date of the Gregorian calendar. Years begin in March here, so that a leap day ends one.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "numbers of at most four digits"
)]
fn days(year: i64, month: i64, day: i64) -> i64 {
    let from_march = (month + 9) % 12;
    let year = if month < 3 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a number of days from 1 January 1970.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "days within the years 0000 to 9999"
)]
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = year + era * 400;
    (if month < 3 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", (0, false)),
            ("2025-06-15T15:06:40Z", (1_750_000_000, false)),
            ("2025-06-15T15:06:40.000Z", (1_750_000_000, false)),
            ("2025-06-15T15:06:40.000000001Z", (1_750_000_000, true)),
            ("1969-12-31T23:59:59.5Z", (-1, true)),
            ("2000-02-29T12:00:00Z", (951_825_600, false)),
            ("2024-12-31T23:59:59Z", (1_735_689_599, false)),
            ("0000-01-01T00:00:00Z", (RANGE.0, false)),
            ("9999-12-31T23:59:59Z", (RANGE.1, false)),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn nothing_looser_is_read() {
        for text in [
            "",
            "2025-06-15",
            "2025-06-15T15:06:40",
            "2025-06-15T15:06:40+00:00",
            "2025-06-15t15:06:40Z",
            "2025-06-15T15:06:40z",
            "2025-06-15 15:06:40Z",
            "2025-6-15T15:06:40Z",
            "12025-06-15T15:06:40Z",
            "+025-06-15T15:06:40Z",
            "2025-06-15T15:06:40.Z",
            "2025-06-15T15:06:40.0123456789Z",
            "2025-06-15T15:06:40.12aZ",
            "2025-06-15T15:06:40,1Z",
            "2025-00-15T15:06:40Z",
            "2025-13-15T15:06:40Z",
            "2025-06-00T15:06:40Z",
            "2025-06-31T15:06:40Z",
            "2025-02-29T15:06:40Z",
            "1900-02-29T15:06:40Z",
            "2025-06-15T24:00:00Z",
            "2025-06-15T15:60:00Z",
            "2025-06-15T15:06:60Z",
            "2025-06-15T15:06:40Z ",
            "2025-06-15T15:06:4٤Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let years_apart = (RANGE.0..=RANGE.1).step_by(9_999_991);
        for unix_secs in years_apart.chain([-1, 0, 1, RANGE.1]) {
            assert_eq!(read(&write(unix_secs)), Some((unix_secs, false)));
        }
        assert_eq!(write(i64::MAX), "9999-12-31T23:59:59Z");
        assert_eq!(write(i64::MIN), "0000-01-01T00:00:00Z");
    }
}
