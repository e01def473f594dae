//! Lenient reading of authentic JSON: what is not asked for is skipped, whatever it holds.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::identity::InvalidEvent;

/// Read one JSON object, skipping a leading byte-order mark.
///
/// Serde reads a struct from an array, too, member by member; here an array is no event.
///
/// # Errors
///
/// [`InvalidEvent::Body`] if it is not UTF-8, no object, or not of this shape.
pub fn json_object<'b, T: Deserialize<'b>>(json: &'b [u8]) -> Result<T, InvalidEvent> {
    let text = std::str::from_utf8(without_bom(json)).map_err(|_| InvalidEvent::Body)?;
    if !text.trim_ascii_start().starts_with('{') {
        return Err(InvalidEvent::Body);
    }
    serde_json::from_str(text).map_err(|_| InvalidEvent::Body)
}

/// Read one JSON text, skipping a leading byte-order mark.
pub(crate) fn read<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Option<T> {
    serde_json::from_slice(without_bom(bytes)).ok()
}

/// The text after a UTF-8 byte-order mark, if one leads.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The raw value at a path of member names; the whole text for an empty path.
///
/// A member that stands twice is ambiguous and an error, as is a missing one.
pub(crate) fn at<'b>(bytes: &'b [u8], path: &[&str]) -> Result<&'b str, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_slice(without_bom(bytes));
    let value = Member(path).deserialize(&mut json)?;
    json.end()?;
    Ok(value.get())
}

struct Member<'p>(&'p [&'p str]);

impl<'b> DeserializeSeed<'b> for Member<'_> {
    type Value = &'b RawValue;

    fn deserialize<D: Deserializer<'b>>(self, from: D) -> Result<Self::Value, D::Error> {
        match self.0 {
            [] => <&RawValue>::deserialize(from),
            [..] => from.deserialize_map(self),
        }
    }
}

impl<'b> Visitor<'b> for Member<'_> {
    type Value = &'b RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the payload at `{}`", self.0.join("."))
    }

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        let [wanted, rest @ ..] = self.0 else {
            return Err(A::Error::custom("no member is asked for"));
        };
        while let Some(name) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if name != *wanted {
                map.next_value::<IgnoredAny>()?;
            } else if found.replace(map.next_value_seed(Member(rest))?).is_some() {
                return Err(A::Error::custom(format_args!(
                    "duplicate member `{wanted}`"
                )));
            }
        }
        found.ok_or_else(|| A::Error::custom(format_args!("no member `{wanted}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_only_member_and_skips_the_awkward_rest() {
        let text = br#"{"a":1e400,"s":"\ud800","data":{"x":[1],"object":{"id": 7}},"z":[[[]]]}"#;
        assert_eq!(at(text, &["data", "object"]).unwrap(), r#"{"id": 7}"#);
        assert_eq!(at(b"\xef\xbb\xbf{} ", &[]).unwrap(), "{}");
        for bad in [
            &b"{}"[..],
            b"{\"data\":1}",
            b"{\"data\":{\"object\":1},\"data\":{\"object\":1}}",
            b"{\"data\":{\"object\":1}} x",
            b"[]",
            b"",
        ] {
            assert!(at(bad, &["data", "object"]).is_err());
        }
    }

    #[test]
    fn a_struct_is_read_from_an_object_only() {
        #[derive(Deserialize, Debug, PartialEq)]
        struct One {
            id: u8,
        }
        for good in [&b"{\"id\":1}"[..], b"\xef\xbb\xbf\r\n {\"id\":1} "] {
            assert_eq!(json_object(good), Ok(One { id: 1 }));
        }
        for bad in [
            &b"[1]"[..],
            b" [1]",
            b"",
            b"{}",
            b"{\"id\":1}{",
            b"\x0c{\"id\":1}",
            b"{\"id\":1,\"skipped\":\"\xff\"}",
        ] {
            assert_eq!(json_object::<One>(bad), Err(InvalidEvent::Body));
        }
    }
}
