//! What becomes of bodies between a wire and a verifier, undone: the usual ways of writing one again.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;

use crate::verify::json::{Escapes, Json, Layout, Style};

/// Largest body that is written again in every style, in bytes. Larger ones only have their ends tried.
const MAX_REWRITTEN_BYTES: usize = 256 * 1024;

/// A body that may have been what was signed, and how it differs from the one at hand: words that complete
/// "the signature holds over the body ...".
pub(crate) struct Guess {
    pub(crate) how: String,
    pub(crate) body: Bytes,
}

/// Everything that `body` may have been, the likeliest first. None is `body` itself, and none comes twice.
pub(crate) fn guesses(body: &Bytes) -> impl Iterator<Item = Guess> {
    let mut seen: HashSet<Bytes> = HashSet::from([body.clone()]);
    let mut all = ends(body);
    all.extend(encodings(body));
    all.extend(forms(body));
    // Written only when asked for: it is the most of the work.
    let body = body.clone();
    let rewritten = std::iter::once_with(move || rewritten(&body)).flatten();
    all.into_iter()
        .chain(rewritten)
        .filter(move |guess| seen.insert(guess.body.clone()))
}

fn guess(how: impl Into<String>, body: impl Into<Bytes>) -> Guess {
    Guess {
        how: how.into(),
        body: body.into(),
    }
}

/// Line ends and byte-order marks.
fn ends(body: &Bytes) -> Vec<Guess> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let mut all = vec![
        guess("with a line feed behind it", [body, &b"\n"[..]].concat()),
        guess("with CR LF behind it", [body, &b"\r\n"[..]].concat()),
        guess("with a byte-order mark before it", [MARK, body].concat()),
        guess(
            "with CR LF for every line feed",
            replace(&replace(body, b"\r\n", b"\n"), b"\n", b"\r\n"),
        ),
        guess(
            "with a line feed for every CR LF",
            replace(body, b"\r\n", b"\n"),
        ),
        guess(
            "without the white space around it",
            body.trim_ascii().to_vec(),
        ),
    ];
    for (how, end) in [("line feed", &b"\n"[..]), ("CR LF", b"\r\n")] {
        if let Some(rest) = body.strip_suffix(end) {
            all.insert(
                0,
                guess(format!("without the {how} at its end"), rest.to_vec()),
            );
        }
    }
    if let Some(rest) = body.strip_prefix(MARK) {
        all.insert(0, guess("without its byte-order mark", rest.to_vec()));
    }
    all
}

/// Bytes taken for other text than they are.
fn encodings(body: &Bytes) -> Vec<Guess> {
    let mut all = Vec::new();
    if let Ok(text) = std::str::from_utf8(body)
        && !text.is_ascii()
    {
        let latin: Option<Vec<u8>> = text
            .chars()
            .map(|char| u8::try_from(u32::from(char)).ok())
            .collect();
        if let Some(latin) = latin {
            all.push(guess(
                "before its bytes were taken for Latin-1 and written as UTF-8",
                latin,
            ));
        }
    }
    if !body.is_ascii() {
        let read: String = body.iter().map(|&byte| char::from(byte)).collect();
        all.push(guess("as Latin-1 written as UTF-8", read));
    }
    if let Ok(decoded) = BASE64_STANDARD.decode(body.trim_ascii()) {
        all.push(guess(
            "decoded from base64, in which the platform handed it over",
            decoded,
        ));
    }
    all
}

/// Forms, in which a space has two spellings and hex digits two cases.
fn forms(body: &Bytes) -> Vec<Guess> {
    if body.trim_ascii_start().starts_with(b"{") || !body.contains(&b'=') {
        return Vec::new();
    }
    let cased = |upper: bool| {
        let mut out = body.to_vec();
        let mut left = 0u8;
        for byte in &mut out {
            if left > 0 {
                left = left.saturating_sub(1);
                *byte = if upper {
                    byte.to_ascii_uppercase()
                } else {
                    byte.to_ascii_lowercase()
                };
            } else if *byte == b'%' {
                left = 2;
            }
        }
        out
    };
    vec![
        guess("with `%20` for every `+`", replace(body, b"+", b"%20")),
        guess("with `+` for every `%20`", replace(body, b"%20", b"+")),
        guess("with upper-case percent-encoding", cased(true)),
        guess("with lower-case percent-encoding", cased(false)),
    ]
}

/// JSON parsed and written again.
fn rewritten(body: &Bytes) -> Vec<Guess> {
    if body.len() > MAX_REWRITTEN_BYTES {
        return Vec::new();
    }
    let Some(json) = Json::read(body) else {
        return Vec::new();
    };
    let layouts = [
        (Layout::Compact, "compact"),
        (Layout::Spaced, "with a space behind every `,` and `:`"),
        (Layout::Pretty(2), "indented by 2 spaces"),
        (Layout::Pretty(4), "indented by 4 spaces"),
        (Layout::Pretty(0), "indented by tabs"),
    ];
    let flags = [false, true];
    let mut all = Vec::new();
    for sorted in flags {
        for (layout, laid) in layouts {
            for slash in flags {
                for html in flags {
                    for non_ascii in flags {
                        let escapes = Escapes {
                            non_ascii,
                            slash,
                            html,
                        };
                        let mut how = format!("as JSON {laid}");
                        for (is, words) in [
                            (sorted, "members sorted by name"),
                            (non_ascii, "characters outside ASCII escaped"),
                            (slash, "`/` escaped"),
                            (html, "`<`, `>` and `&` escaped"),
                        ] {
                            if is {
                                how = format!("{how}, {words}");
                            }
                        }
                        let text = json.write(Style {
                            layout,
                            sorted,
                            escapes,
                        });
                        all.push(guess(
                            format!("{how}, and a line feed behind it"),
                            format!("{text}\n"),
                        ));
                        all.push(guess(how, text));
                    }
                }
            }
        }
    }
    // What is said with fewer words is likelier, and a line feed the least likely.
    all.sort_by_key(|guess| (guess.body.ends_with(b"\n"), guess.how.matches(',').count()));
    all
}

fn replace(body: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(first) = rest.first() {
        if let Some(behind) = rest.strip_prefix(from) {
            out.extend_from_slice(to);
            rest = behind;
        } else {
            out.push(*first);
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first guess that is `signed`, seeing `received`.
    fn how(received: &str, signed: &str) -> Option<String> {
        let received = Bytes::copy_from_slice(received.as_bytes());
        let mut all = guesses(&received);
        all.find(|guess| guess.body == signed)
            .map(|guess| guess.how)
    }

    #[test]
    fn the_usual_changes_are_undone() {
        for (received, signed, expected) in [
            ("a", "a\n", "with a line feed behind it"),
            ("a\r\n", "a", "without the CR LF at its end"),
            ("a\nb", "a\r\nb", "with CR LF for every line feed"),
            ("\u{feff}{}", "{}", "without its byte-order mark"),
            ("{\"a\": 1}", "{\"a\":1}", "as JSON compact"),
            (
                "{\"a\":1}",
                "{\"a\": 1}",
                "as JSON with a space behind every `,` and `:`",
            ),
            (
                "{\"a\":1}",
                "{\n    \"a\": 1\n}",
                "as JSON indented by 4 spaces",
            ),
            (
                "{\"b\":1,\"a\":2}",
                "{\"a\":2,\"b\":1}",
                "as JSON compact, members sorted by name",
            ),
            (
                "{\"a\":\"é\"}",
                "{\"a\":\"\\u00e9\"}",
                "as JSON compact, characters outside ASCII escaped",
            ),
            (
                "{\"a\":\"x/y\"}",
                "{\"a\":\"x\\/y\"}",
                "as JSON compact, `/` escaped",
            ),
            (
                "{\"a\":\"Ã©\"}",
                "{\"a\":\"é\"}",
                "before its bytes were taken for Latin-1 and written as UTF-8",
            ),
            (
                "eyJhIjoxfQ==",
                "{\"a\":1}",
                "decoded from base64, in which the platform handed it over",
            ),
            ("a=b+c", "a=b%20c", "with `%20` for every `+`"),
        ] {
            assert_eq!(
                how(received, signed).as_deref(),
                Some(expected),
                "{received} {signed}"
            );
        }
        assert_eq!(how("{\"a\":1}", "{\"a\":2}"), None);
    }

    #[test]
    fn no_guess_is_the_body_or_comes_twice() {
        let body = Bytes::from_static(b"{\"a\":[1,\"x\"]}\n");
        let all: Vec<Bytes> = guesses(&body).map(|guess| guess.body).collect();
        let different: HashSet<&Bytes> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert!(!different.contains(&body));
    }
}
