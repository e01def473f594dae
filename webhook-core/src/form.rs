//! `application/x-www-form-urlencoded` bodies, read strictly.

use std::borrow::Cow;

use crate::bounds::MAX_FORM_PARAMETERS;
use crate::percent;

/// The parameters of a form, decoded, in the order of their names and then of their values, no pair twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form<'b>(Vec<(Cow<'b, str>, Cow<'b, str>)>);

impl<'b> Form<'b> {
    /// Read a form; nothing is one without parameters.
    ///
    /// `None` for what is not UTF-8, a parameter without `=` or without a name, an escape that is none, and more than
    /// [`MAX_FORM_PARAMETERS`].
    pub fn read(body: &'b [u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?;
        let mut parameters = Vec::new();
        for parameter in text.split('&').filter(|_| !text.is_empty()) {
            let (name, value) = parameter.split_once('=')?;
            if name.is_empty() || parameters.len() == MAX_FORM_PARAMETERS {
                return None;
            }
            parameters.push((percent::decode(name)?, percent::decode(value)?));
        }
        parameters.sort_unstable();
        parameters.dedup();
        Some(Self(parameters))
    }

    /// The value of `name`; `None` where it has none or several.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(own, _)| own == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// Names and values, sorted by their bytes.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Each name followed by its value, joined without separators: [`Segment::BodyForm`](crate::Segment::BodyForm).
    ///
    /// Forms that differ in where a name ends and its value begins have one such text.
    pub fn joined(&self) -> String {
        let mut joined = String::new();
        for (name, value) in self.parameters() {
            joined.push_str(name);
            joined.push_str(value);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_sorted_by_bytes_and_repeated_pairs_count_once() {
        let form = Form::read(b"b=2&a=%2B1+%C3%A4&B=&b=1&b=2&a%3D=%26").unwrap();
        let pairs: Vec<_> = form.parameters().collect();
        let sorted = [
            ("B", ""),
            ("a", "+1 \u{e4}"),
            ("a=", "&"),
            ("b", "1"),
            ("b", "2"),
        ];
        assert_eq!(pairs, sorted);
        assert_eq!(form.joined(), "Ba+1 \u{e4}a=&b1b2");
        assert_eq!(
            (form.get("B"), form.get("b"), form.get("c")),
            (Some(""), None, None)
        );
        assert_eq!(Form::read(b"").unwrap().joined(), "");
        // Line breaks are sent escaped.
        assert_eq!(Form::read(b"a=%0D%0A").unwrap().get("a"), Some("\r\n"));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        let many = vec!["a=1"; MAX_FORM_PARAMETERS + 1].join("&");
        for body in [
            &b"a"[..],
            b"=1",
            b"&",
            b"a=1&",
            b"a=%",
            b"a=%4",
            b"a=%zz",
            b"a=%ff",
            b"\xff=1",
            b"a=\n",
            b"{}",
            many.as_bytes(),
        ] {
            assert_eq!(Form::read(body), None, "{body:?}");
        }
        assert!(Form::read(&many.as_bytes()[4..]).is_some());
    }
}
