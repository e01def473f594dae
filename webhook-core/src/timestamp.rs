//! Timestamps in one spelling each, and the moment a request arrived.

use crate::bounds::MAX_TIMESTAMP_DIGITS;
use crate::clock::Clock;
use crate::head::Malformed;
use crate::rfc3339;

/// A timestamp an envelope claims: the text as received, which is what is signed, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp<'r> {
    text: &'r str,
    unix_secs: i64,
    /// It names a moment within that second, after its beginning.
    has_fraction: bool,
}

/// How a sender spells its timestamps.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampForm {
    /// Unix milliseconds in canonical decimal.
    Millis,
    /// RFC 3339 in UTC: `2025-06-15T15:06:40.618908427Z`, the fraction of up to nine digits optional.
    Rfc3339,
    /// Unix seconds in canonical decimal.
    Seconds,
}

/// When a request reached us, in Unix seconds. Freshness is judged against it.
///
/// Made from a [`Clock`]; a stored arrival goes through [`crate::danger::trusted_arrival`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival(pub(crate) i64);

impl<'r> Timestamp<'r> {
    /// Read `0|[1-9][0-9]*` of at most 15 ASCII digits as whole Unix seconds.
    ///
    /// The text is what is fed to the MAC: a parser that printed the number again
    /// would sign other bytes than the sender did.
    ///
    /// # Errors
    ///
    /// [`Malformed::Timestamp`] for signs, spaces, leading zeros and anything longer.
    pub fn seconds(text: &'r str) -> Result<Self, Malformed> {
        Ok(Self {
            text,
            unix_secs: decimal(text)?,
            has_fraction: false,
        })
    }

    /// Read the same as Unix milliseconds.
    ///
    /// # Errors
    ///
    /// As [`Timestamp::seconds`].
    pub fn millis(text: &'r str) -> Result<Self, Malformed> {
        let millis = decimal(text)?;
        Ok(Self {
            text,
            unix_secs: millis / 1000,
            has_fraction: millis % 1000 != 0,
        })
    }

    /// Read `YYYY-MM-DDThh:mm:ssZ`, or with a fraction of one to nine digits (RFC 3339, UTC, upper case).
    ///
    /// # Errors
    ///
    /// [`Malformed::Timestamp`] for offsets, leap seconds, days that do not exist and every other spelling.
    pub fn rfc3339(text: &'r str) -> Result<Self, Malformed> {
        let (unix_secs, has_fraction) = rfc3339::read(text).ok_or(Malformed::Timestamp)?;
        Ok(Self {
            text,
            unix_secs,
            has_fraction,
        })
    }

    /// The text as received.
    pub fn text(&self) -> &'r str {
        self.text
    }

    /// The moment it names, in Unix seconds, rounded down.
    pub fn unix_secs(&self) -> i64 {
        self.unix_secs
    }

    /// The same, rounded up.
    pub(crate) fn unix_secs_ceil(&self) -> i64 {
        self.unix_secs.saturating_add(self.has_fraction.into())
    }
}

impl TimestampForm {
    /// Read a timestamp.
    ///
    /// # Errors
    ///
    /// [`Malformed::Timestamp`] for every other spelling than this form's one.
    pub fn read(self, text: &str) -> Result<Timestamp<'_>, Malformed> {
        match self {
            Self::Millis => Timestamp::millis(text),
            Self::Rfc3339 => Timestamp::rfc3339(text),
            Self::Seconds => Timestamp::seconds(text),
        }
    }

    /// Write Unix seconds.
    pub fn write(self, unix_secs: i64) -> String {
        match self {
            Self::Millis => unix_secs.saturating_mul(1000).to_string(),
            Self::Rfc3339 => rfc3339::write(unix_secs),
            Self::Seconds => unix_secs.to_string(),
        }
    }
}

/// Canonical decimal, never negative.
fn decimal(text: &str) -> Result<i64, Malformed> {
    let canonical = match text.as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => {
            rest.len() < MAX_TIMESTAMP_DIGITS && rest.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    if !canonical {
        return Err(Malformed::Timestamp);
    }
    text.parse().map_err(|_| Malformed::Timestamp)
}

impl Arrival {
    /// Now, by `clock`.
    pub fn observed(clock: &dyn Clock) -> Self {
        Self(clock.unix_secs())
    }

    /// The moment, in Unix seconds.
    pub fn unix_secs(self) -> i64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_decimals_are_read() {
        for good in ["0", "1", "1750000000", "999999999999999"] {
            assert_eq!(Timestamp::seconds(good).unwrap().text(), good);
        }
        for bad in [
            "",
            " 1",
            "1 ",
            "+1",
            "-1",
            "01",
            "00",
            "1e9",
            "1_0",
            "1.0",
            "0x1",
            "١",
            "1000000000000000",
            "9223372036854775808",
            "18446744073709551616",
        ] {
            assert_eq!(Timestamp::seconds(bad), Err(Malformed::Timestamp), "{bad}");
            assert_eq!(Timestamp::millis(bad), Err(Malformed::Timestamp), "{bad}");
        }
    }

    #[test]
    fn each_form_reads_what_it_writes() {
        for (form, text) in [
            (TimestampForm::Millis, "1750000000000"),
            (TimestampForm::Rfc3339, "2025-06-15T15:06:40Z"),
            (TimestampForm::Seconds, "1750000000"),
        ] {
            assert_eq!(form.write(1_750_000_000), text);
            let read = form.read(text).unwrap();
            assert_eq!((read.text(), read.unix_secs()), (text, 1_750_000_000));
        }
    }
}
