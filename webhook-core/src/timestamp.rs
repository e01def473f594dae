//! Canonical decimal timestamps, and the moment a request arrived.

use crate::bounds::MAX_TIMESTAMP_DIGITS;
use crate::clock::Clock;
use crate::head::Malformed;

/// A timestamp an envelope claims: the text as received, which is what is signed, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp<'r> {
    text: &'r str,
    unix_secs: i64,
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
        let unix_secs = text.parse().map_err(|_| Malformed::Timestamp)?;
        Ok(Self { text, unix_secs })
    }

    /// The text as received.
    pub fn text(&self) -> &'r str {
        self.text
    }

    /// The moment it names, in Unix seconds.
    pub fn unix_secs(&self) -> i64 {
        self.unix_secs
    }
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
        }
    }
}
