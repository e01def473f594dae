//! What is signed: the URL, and the body's parameters after it or its digest inside it.
//!
//! Which of the two is the endpoint's to say. The URL is the sender's: one that ends in what were a form's parameters, with a
//! digest among them, bears the signature of that form.

use webhook_core::{Malformed, Segment};

/// The parameter that carries the digest of a body which is no form.
const DIGEST: &str = "bodySHA256";

/// What an endpoint is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bodies {
    Forms,
    Json,
}

/// The signed content of a request to `url`.
///
/// The digits in the URL are replaced by the digest of the body: another body is another content.
pub(crate) fn of<'r>(url: &str, bodies: Bodies) -> Result<Vec<Segment<'r>>, Malformed> {
    match (bodies, around_digest(url)?) {
        (Bodies::Forms, None) => Ok(vec![Segment::text(url.to_owned()), Segment::BodyForm]),
        (Bodies::Json, Some((before, after))) => Ok(vec![
            Segment::text(before.to_owned()),
            Segment::BodySha256Hex,
            Segment::text(after.to_owned()),
        ]),
        (Bodies::Forms, Some(_)) | (Bodies::Json, None) => Err(Malformed::Query),
    }
}

/// The URL before and after the digest; `None` where there is none.
fn around_digest(url: &str) -> Result<Option<(&str, &str)>, Malformed> {
    let Some(query_at) = url.find('?') else {
        return Ok(None);
    };
    let mut found = None;
    let mut at = query_at.saturating_add(1);
    for parameter in url.get(at..).unwrap_or_default().split('&') {
        let value = parameter.strip_prefix(DIGEST);
        if let Some(value) = value.and_then(|rest| rest.strip_prefix('=')) {
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            if found.is_some() || value.len() != 64 || !value.bytes().all(is_digit) {
                return Err(Malformed::Query);
            }
            let end = at.saturating_add(parameter.len());
            let begin = end.saturating_sub(value.len());
            found = url.get(..begin).zip(url.get(end..));
        }
        at = at.saturating_add(parameter.len()).saturating_add(1);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620";

    #[test]
    fn the_digest_is_cut_out() {
        for (before, after) in [
            ("https://a/b?bodySHA256=", ""),
            ("https://a/b?x=1&bodySHA256=", "&y=2"),
            (
                "https://a/bodySHA256=?xbodySHA256=1&bodySHA256=",
                "&bodySHA25=3",
            ),
        ] {
            let url = format!("{before}{SHA}{after}");
            assert_eq!(around_digest(&url), Ok(Some((before, after))), "{url}");
        }
        for url in [
            "https://a",
            "https://a/b?",
            "https://a/b?BodySHA256=1",
            "https://a/?bodySHA256",
        ] {
            assert_eq!(around_digest(url), Ok(None), "{url}");
        }
        // A name that ends alike has the same digits: it is not the one cut out.
        let twins = format!("https://a/?bodySHA256={SHA}&xbodySHA256={SHA}");
        let cut = around_digest(&twins).unwrap().unwrap();
        assert_eq!(cut.0, "https://a/?bodySHA256=");
    }

    #[test]
    fn another_digest_is_malformed() {
        for value in [
            "",
            "0",
            &SHA[1..],
            &format!("{SHA}0"),
            &SHA.to_uppercase(),
            &"g".repeat(64),
        ] {
            let url = format!("https://a/?bodySHA256={value}");
            assert_eq!(around_digest(&url), Err(Malformed::Query), "{url}");
        }
        let twice = format!("https://a/?bodySHA256={SHA}&bodySHA256={SHA}");
        assert_eq!(around_digest(&twice), Err(Malformed::Query));
    }
}
