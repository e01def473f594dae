//! A look into a body that nobody has vouched for yet: all it can yield is an envelope.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use crate::envelope::Envelope;
use crate::head::Malformed;
use crate::json;

/// Reads the envelope of a scheme that puts its signature into the body.
///
/// A function without a state: it can keep nothing of what it saw.
pub type ReadBody = for<'b> fn(UntrustedBody<'b>) -> Result<Envelope<'b>, Malformed>;

/// A body before its signature is known to hold.
///
/// It can be asked for texts that stand in one object, and for nothing else: neither parsed nor kept. The body was read
/// within the endpoint's cap; each look reads it once from end to end, and does not grow with its depth.
#[derive(Clone, Copy)]
pub struct UntrustedBody<'b>(&'b [u8]);

impl<'b> UntrustedBody<'b> {
    pub(crate) fn new(body: &'b [u8]) -> Self {
        Self(body)
    }

    /// The members `names` of the object at `path`, where they are there; the whole body for an empty path.
    ///
    /// # Errors
    ///
    /// [`Malformed::Body`] if the body is no JSON object, has no object at `path`, or names one of these members or one
    /// on the path twice; if a member is no string, or holds an escape that is none.
    pub fn texts<const N: usize>(
        self,
        path: &[&str],
        names: [&str; N],
    ) -> Result<[Option<Cow<'b, str>>; N], Malformed> {
        let object = json::at(self.0, path).map_err(|_| Malformed::Body)?;
        let mut read = serde_json::Deserializer::from_str(object);
        let found = read
            .deserialize_map(Texts(names))
            .map_err(|_| Malformed::Body)?;
        read.end().map_err(|_| Malformed::Body)?;
        Ok(found)
    }
}

impl fmt::Debug for UntrustedBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UntrustedBody({} bytes)", self.0.len())
    }
}

struct Texts<'n, const N: usize>([&'n str; N]);

impl<'b, const N: usize> Visitor<'b> for Texts<'_, N> {
    type Value = [Option<Cow<'b, str>>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with texts")
    }

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [const { None }; N];
        while let Some(Text(name)) = map.next_key()? {
            let mut slots = self.0.iter().zip(&mut found);
            let Some((_, slot)) = slots.find(|(own, _)| **own == name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let Text(text) = map.next_value()?;
            if slot.replace(text).is_some() {
                return Err(A::Error::custom("a member is named twice"));
            }
        }
        Ok(found)
    }
}

/// A string, borrowed where it holds no escape.
#[derive(serde::Deserialize)]
struct Text<'b>(#[serde(borrow)] Cow<'b, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn look(body: &[u8]) -> Result<[Option<Cow<'_, str>>; 2], Malformed> {
        UntrustedBody::new(body).texts(&["signature"], ["token", "t"])
    }

    #[test]
    fn texts_are_found_wherever_they_stand() {
        for body in [
            r#"{"signature":{"token":"a\u0041","t":"1"},"rest":{"token":"b"}}"#,
            "\u{feff} {\"rest\":[1e400,{\"t\":2}],\"signature\":{\"t\":\"1\",\"x\":null,\"token\":\"aA\"}}",
        ] {
            let found = look(body.as_bytes()).unwrap();
            assert_eq!(found, [Some("aA".into()), Some("1".into())], "{body}");
        }
        let one = look(br#"{"signature":{"t":"1"}}"#).unwrap();
        assert_eq!(one, [None, Some("1".into())]);
        let top = UntrustedBody::new(br#"{"t":""}"#).texts(&[], ["t"]);
        assert_eq!(top, Ok([Some("".into())]));
    }

    #[test]
    fn what_readers_may_take_differently_is_malformed() {
        let deep = format!(r#"{{"signature":{{"token":{}}}}}"#, "[".repeat(100_000));
        for body in [
            "",
            "x",
            "[]",
            "{}",
            r#"{"signature":1}"#,
            r#"{"signature":[]}"#,
            r#"{"signature":{"t":1}}"#,
            r#"{"signature":{"t":null}}"#,
            r#"{"signature":{"t":"1","t":"1"}}"#,
            r#"{"signature":{"t":"1","\u0074":"1"}}"#,
            r#"{"signature":{"t":"1"},"signature":{"t":"1"}}"#,
            r#"{"signature":{"t":"\ud800"}}"#,
            r#"{"signature":{"t":"1"}}{}"#,
            r#"{"signature":{"t":"1"}"#,
            &deep,
        ] {
            assert_eq!(look(body.as_bytes()), Err(Malformed::Body), "{body:.60}");
        }
        assert_eq!(
            look(b"{\"signature\":{\"t\":\"\xff\"}}"),
            Err(Malformed::Body)
        );
    }

    /// 64 times the length may take 64 times as long, or on a busy machine ten times that. A reader that goes back would
    /// take 4096 times as long.
    #[test]
    fn a_look_takes_time_in_proportion_to_length() {
        let least = |body: &str| {
            let looks = (0..5).map(|_| {
                let began = std::time::Instant::now();
                assert!(look(body.as_bytes()).is_ok());
                began.elapsed()
            });
            looks.min().unwrap()
        };
        let bodies: [fn(usize) -> String; 4] = [
            |len| format!(r#"{{"signature":{{{}"t":"1"}}}}"#, r#""x":1,"#.repeat(len)),
            |len| {
                format!(
                    r#"{{"signature":{{"t":"1"}},"x":"{}"}}"#,
                    r"\u0041".repeat(len)
                )
            },
            |len| format!(r#"{{"signature":{{"t":"{}"}}}}"#, r"\n".repeat(len)),
            |len| {
                format!(
                    r#"{{"x":{}{},"signature":{{}}}}"#,
                    "[".repeat(len),
                    "]".repeat(len)
                )
            },
        ];
        for body in bodies {
            let (short, long) = (least(&body(5_000)), least(&body(320_000)));
            assert!(long < short * 640, "{short:?} {long:?} {:.40}", body(1));
        }
    }

    /// Nesting that is passed over costs neither stack nor more than its length.
    #[test]
    fn depth_is_passed_over() {
        let deep = |depth: usize| {
            format!(
                r#"{{"rest":{}{},"signature":{{"t":"1"}}}}"#,
                "[".repeat(depth),
                "]".repeat(depth)
            )
        };
        assert!(look(deep(1_000_000).as_bytes()).is_ok());
    }
}
