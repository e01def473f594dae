//! A timestamp inside the signed body: judged once the signature holds, and before anything else is read.

use crate::head::Malformed;
use crate::json;
use crate::timestamp::{Arrival, TimestampForm};
use crate::window::{Freshness, Window};

/// Where the timestamp stands, and what it is judged by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyTimestamp {
    pub(crate) path: &'static [&'static str],
    pub(crate) form: TimestampForm,
    pub(crate) window: Window,
    pub(crate) arrival: Arrival,
}

impl BodyTimestamp {
    /// Read it from an authentic body: its moment in Unix seconds, and what that is worth.
    ///
    /// Decimal forms are JSON numbers, RFC 3339 is a string. The text is read as it stands: neither an exponent nor an
    /// escape is undone.
    pub(crate) fn judge(&self, body: &[u8]) -> Result<(i64, Freshness), Malformed> {
        let value = json::at(body, self.path).map_err(|_| Malformed::Timestamp)?;
        let text = match self.form {
            TimestampForm::Millis | TimestampForm::Seconds => Some(value),
            TimestampForm::Rfc3339 => value
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"')),
        };
        let timestamp = self.form.read(text.ok_or(Malformed::Timestamp)?)?;
        let freshness = self.window.judge(&timestamp, self.arrival);
        Ok((timestamp.unix_secs(), freshness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(form: TimestampForm, body: &str) -> Result<(i64, Freshness), Malformed> {
        let stamp = BodyTimestamp {
            path: &["sent", "at"],
            form,
            window: Window::FIVE_MINUTES,
            arrival: Arrival(1_750_000_000),
        };
        stamp.judge(body.as_bytes())
    }

    #[test]
    fn each_form_is_judged() {
        for (form, now, old) in [
            (TimestampForm::Millis, "1750000000000", "1749999699999"),
            (TimestampForm::Seconds, "1750000000", "1749999699"),
            (
                TimestampForm::Rfc3339,
                r#""2025-06-15T15:06:40Z""#,
                r#""2025-06-15T15:01:39.9Z""#,
            ),
        ] {
            let at = |value: &str| judge(form, &format!(r#"{{"a":[],"sent":{{"at": {value} }}}}"#));
            assert_eq!(at(now), Ok((1_750_000_000, Freshness::Fresh)));
            let stale = Freshness::Stale { by_secs: 301 };
            assert_eq!(at(old), Ok((1_749_999_699, stale)));
        }
    }

    #[test]
    fn what_is_no_timestamp_is_malformed() {
        for value in [
            r#""1750000000000""#,
            "1750000000000.0",
            "1.75e12",
            "-1",
            "null",
            "[1750000000000]",
            r#"{"at":1750000000000}"#,
        ] {
            let body = format!(r#"{{"sent":{{"at":{value}}}}}"#);
            assert_eq!(
                judge(TimestampForm::Millis, &body),
                Err(Malformed::Timestamp),
                "{body}"
            );
        }
        for body in [
            "",
            "[]",
            "{}",
            r#"{"sent":{}}"#,
            r#"{"at":1750000000000}"#,
            r#"{"sent":{"at":1750000000000,"at":1750000000000}}"#,
            r#"{"sent":{"at":1750000000000}}{}"#,
        ] {
            assert_eq!(
                judge(TimestampForm::Millis, body),
                Err(Malformed::Timestamp),
                "{body}"
            );
        }
        for value in ["1750000000", r#""2025-06-15T15:06:4\u0030Z""#, r#"""#] {
            let body = format!(r#"{{"sent":{{"at":{value}}}}}"#);
            assert_eq!(
                judge(TimestampForm::Rfc3339, &body),
                Err(Malformed::Timestamp),
                "{body}"
            );
        }
    }
}
