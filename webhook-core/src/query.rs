//! The query of a request target, read strictly. Nothing in it is signed unless the scheme signs the URL.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::bounds::{MAX_QUERY_PARAMETERS, MAX_TARGET_BYTES};
use crate::head::Malformed;
use crate::percent;

/// The parameters of a query, decoded, each name once.
#[derive(Debug, Clone)]
pub struct Query<'r>(SmallVec<[(Cow<'r, str>, Cow<'r, str>); 4]>);

impl<'r> Query<'r> {
    /// Read what stands after the `?` of `target`; nothing is an empty query.
    ///
    /// Escapes are undone, once, and `+` is a space, as in forms. An escape that is none, text that is not UTF-8, an empty
    /// name, a parameter without `=` and a name that comes twice, however either is spelled, are refused: what they
    /// mean depends on who reads them.
    ///
    /// # Errors
    ///
    /// [`Malformed::Query`], also beyond [`MAX_TARGET_BYTES`] or [`MAX_QUERY_PARAMETERS`].
    pub fn of(target: &'r str) -> Result<Self, Malformed> {
        let mut parameters: SmallVec<[(Cow<'_, str>, Cow<'_, str>); 4]> = SmallVec::new();
        let Some((_, query)) = target.split_once('?') else {
            return Ok(Self(parameters));
        };
        if target.len() > MAX_TARGET_BYTES {
            return Err(Malformed::Query);
        }
        for parameter in query.split('&').filter(|_| !query.is_empty()) {
            let (name, value) = parameter.split_once('=').ok_or(Malformed::Query)?;
            let name = percent::decode(name).ok_or(Malformed::Query)?;
            let value = percent::decode(value).ok_or(Malformed::Query)?;
            let is_known = parameters.iter().any(|(other, _)| *other == name);
            if name.is_empty() || is_known || parameters.len() == MAX_QUERY_PARAMETERS {
                return Err(Malformed::Query);
            }
            parameters.push((name, value));
        }
        Ok(Self(parameters))
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut parameters = self.0.iter();
        let (_, value) = parameters.find(|(own, _)| own == name)?;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_once() {
        let query = Query::of("/hooks?a=1&b=&c%2Fd=%C3%A4+%2525&e==f?").unwrap();
        for (name, value) in [("a", "1"), ("b", ""), ("c/d", "ä %25"), ("e", "=f?")] {
            assert_eq!(query.get(name), Some(value), "{name}");
        }
        for absent in ["", "c", "c%2Fd", "A"] {
            assert_eq!(query.get(absent), None, "{absent}");
        }
        for empty in ["", "/", "/?", "*"] {
            assert!(Query::of(empty).unwrap().0.is_empty(), "{empty}");
        }
    }

    #[test]
    fn what_readers_may_take_differently_is_refused() {
        let many = |count| vec!["a=1"; count].join("&");
        let distinct: Vec<_> = (0..=MAX_QUERY_PARAMETERS)
            .map(|n| format!("{n}=1"))
            .collect();
        for query in [
            "a",
            "=1",
            "a=1&",
            "&a=1",
            "a=1&&b=2",
            "a=1&a=1",
            "a=1&%61=2",
            "a=%",
            "a=%4",
            "a=%4g",
            "a=%+1",
            "a=%ff",
            "%ff=1",
            "a=\u{7f}\u{1}",
            &many(2),
            &distinct.join("&"),
            &format!("a={}", "x".repeat(MAX_TARGET_BYTES)),
        ] {
            let read = Query::of(&format!("/?{query}")).map(drop);
            assert_eq!(read, Err(Malformed::Query), "{query}");
        }
        let most = format!("/?{}", distinct[1..].join("&"));
        assert!(Query::of(&most).is_ok());
    }
}
