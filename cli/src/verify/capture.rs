//! A request as somebody wrote it down.

use bytes::Bytes;
use serde_json::Value;

/// A captured request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Captured {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Bytes,
}

impl Default for Captured {
    fn default() -> Self {
        Self {
            method: "POST".to_owned(),
            target: "/".to_owned(),
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }
}

impl Captured {
    /// Read a whole request. Lines of the head end in CR LF or LF; the body is every byte behind the empty line.
    ///
    /// # Errors
    ///
    /// What is missing.
    pub(crate) fn request(bytes: &[u8]) -> Result<Self, String> {
        let (head, body) =
            split_head(bytes).ok_or("no empty line parts the head of the request from its body")?;
        let (first, rest) = head.split_at(
            head.iter()
                .position(|&byte| byte == b'\n')
                .unwrap_or(head.len()),
        );
        let first = String::from_utf8_lossy(first);
        let mut words = first.split_ascii_whitespace();
        let (Some(method), Some(target), Some(version)) =
            (words.next(), words.next(), words.next())
        else {
            return Err("the first line is no `POST /path HTTP/1.1`".to_owned());
        };
        if !version.starts_with("HTTP/") {
            return Err("the first line is no `POST /path HTTP/1.1`".to_owned());
        }
        Ok(Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: fields(rest)?,
            body: Bytes::copy_from_slice(body),
        })
    }

    /// The values of this header field; names compare without case.
    pub(crate) fn all<'c>(&'c self, name: &str) -> impl Iterator<Item = &'c [u8]> {
        let fields = self.headers.iter();
        fields
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }
}

/// Read header fields: a line each, perhaps behind the `>` of `curl -v`, or a JSON object of strings or lists of them.
///
/// # Errors
///
/// The line that is none.
pub(crate) fn fields(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    if let Ok(Value::Object(object)) = serde_json::from_slice(bytes) {
        return from_json(object);
    }
    let mut fields = Vec::new();
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.strip_prefix(b"> ").unwrap_or(line);
        if line.is_empty() || line == b">" || is_request_line(line) {
            continue;
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let (name, value) = colon
            .and_then(|at| Some((line.get(..at)?, line.get(at.saturating_add(1)..)?)))
            .ok_or_else(|| format!("no `Name: value`: a line of {} bytes", line.len()))?;
        let name = String::from_utf8_lossy(name).trim().to_owned();
        fields.push((name, value.trim_ascii().to_vec()));
    }
    Ok(fields)
}

fn from_json(object: serde_json::Map<String, Value>) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut fields = Vec::new();
    for (name, value) in object {
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            let Value::String(value) = value else {
                return Err(format!("the value of `{name}` is no string"));
            };
            fields.push((name.clone(), value.into_bytes()));
        }
    }
    Ok(fields)
}

fn is_request_line(line: &[u8]) -> bool {
    line.ends_with(b" HTTP/1.1") || line.ends_with(b" HTTP/2") || line.ends_with(b" HTTP/1.0")
}

fn split_head(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let find = |end: &[u8]| bytes.windows(end.len()).position(|window| window == end);
    let crlf = find(b"\r\n\r\n").map(|at| (at, at.saturating_add(4)));
    let lf = find(b"\n\n").map(|at| (at, at.saturating_add(2)));
    // Whichever comes first: the other may stand in the body.
    let (head, body) = [crlf, lf].into_iter().flatten().min()?;
    Some((bytes.get(..head)?, bytes.get(body..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_every_byte_behind_the_empty_line() {
        for (raw, body) in [
            (
                &b"POST /a?b HTTP/1.1\r\nX: 1\r\nx:  2 \r\n\r\n{\n\n}\r\n"[..],
                &b"{\n\n}\r\n"[..],
            ),
            (
                b"POST /a?b HTTP/1.1\nX: 1\nx: 2\n\na\r\n\r\nb",
                b"a\r\n\r\nb",
            ),
        ] {
            let captured = Captured::request(raw).unwrap();
            assert_eq!(
                (captured.method.as_str(), captured.target.as_str()),
                ("POST", "/a?b")
            );
            assert_eq!(captured.all("x").collect::<Vec<_>>(), [b"1", b"2"]);
            assert_eq!(&captured.body[..], body);
        }
        assert!(Captured::request(b"{\"a\":1}").is_err());
        assert!(Captured::request(b"hello\n\nworld").is_err());
    }

    #[test]
    fn fields_come_in_three_spellings() {
        let expected = [
            ("A".to_owned(), b"1".to_vec()),
            ("B".to_owned(), b"x:y".to_vec()),
        ];
        for text in [
            "A: 1\nB: x:y\n",
            "> POST / HTTP/1.1\r\n> A: 1\r\n> B: x:y\r\n>\r\n",
            r#"{"A": ["1"], "B": "x:y"}"#,
        ] {
            assert_eq!(fields(text.as_bytes()).unwrap(), expected, "{text}");
        }
        assert!(fields(b"no field").is_err());
        assert!(fields(br#"{"A": 1}"#).is_err());
    }
}
