//! The page: a table for each provider. Nothing in it is written by hand but how facts are worded.

use std::fmt::Write as _;
use std::time::Duration;

use webhook_core::{
    Algorithm, DynProvider, Envelope, Head, Redelivery, Resigns, SecretFormat, Segment, Signing,
    TimestampForm,
};
use webhook_fixtures::{Delivery, Sender, Setup, names, sender};

/// When every delivery of the page is signed.
const NOW: i64 = 1_750_000_000;

const TOP: &str = "\
# Providers, as their crates declare them

Made by `cargo xtask provider-pages` from the crates themselves: from what they declare, and from a delivery that each of them signs and
reads back. A test fails when this page and the crates differ. What is documented where, and what is unverified, is in each crate's own page;
[providers/README.md](../providers/README.md) compares them in one table.

In headers and bodies `<hex>` and `<base64>` stand for a signature, `<time>` for the timestamp, `<id>` for the event's id. The signed
content is in braces where it is taken from the request: `{body}` is the raw body.
";

/// The whole page.
pub(crate) fn all() -> String {
    let setup = Setup::default();
    let mut page = TOP.to_owned();
    for name in names() {
        let Ok(sender) = sender(name, &setup) else {
            continue;
        };
        let _ = write!(page, "\n## {name}\n\n| | |\n| --- | --- |\n");
        for (key, value) in rows(&sender) {
            let _ = writeln!(page, "| {key} | {value} |");
        }
    }
    page
}

fn rows(sender: &Sender) -> Vec<(&'static str, String)> {
    let (provider, keys) = (sender.provider(), sender.example_keys());
    let spec = provider.spec();
    let Ok(event) = sender.fixture(None) else {
        return Vec::new();
    };
    let delivery = event.signed(&keys, NOW);
    let names = provider.sign(&Signing::new(&keys, &delivery.body, NOW));
    let names: Vec<_> = names.into_iter().map(|(name, _)| name).collect();
    let beside = delivery.headers.iter().map(|(name, _)| name);
    let beside = beside.filter(|name| {
        let is_signed = names.iter().any(|own| own.eq_ignore_ascii_case(name));
        !is_signed && !name.eq_ignore_ascii_case("content-type")
    });
    let beside: Vec<_> = beside.map(|name| code(name)).collect();
    let (signed, algorithm) = scheme(provider, &delivery);
    let mut rows = vec![
        (
            "signature",
            signature(
                spec.has_envelope_in_body(),
                &names,
                &delivery,
                &event.event_id(),
            ),
        ),
        ("signed content", signed),
        ("algorithm", algorithm),
        ("secret", secret(spec.secret())),
        ("timestamp", timestamp(provider)),
        (
            "ids and types",
            if provider.signs_identity() {
                "signed"
            } else {
                "**not signed**: the digest of the content is claimed too"
            }
            .to_owned(),
        ),
    ];
    if !beside.is_empty() {
        rows.push(("headers beside it, unsigned", beside.join(", ")));
    }
    if !spec.headers_to_keep().is_empty() {
        rows.push(("kept of these", codes(spec.headers_to_keep())));
    }
    rows.extend([
        ("content types", codes(spec.media_types())),
        ("longest body", bytes(spec.body_cap())),
        ("success", spec.success().to_string()),
        ("retries by itself", redelivery(spec.automatic())),
        ("sent again on request", redelivery(spec.manual())),
        ("a retry is signed anew", resigns(spec.resigns()).to_owned()),
        ("handshake", handshake(sender)),
    ]);
    if spec.refusals_are_final() {
        let answer = "never: what may pass later is answered 503".to_owned();
        rows.push(("sends again after a 4xx", answer));
    }
    if !spec.payload_path().is_empty() {
        rows.push(("handlers decode", code(&spec.payload_path().join("."))));
    }
    if !spec.volatile_paths().is_empty() {
        let paths = spec
            .volatile_paths()
            .iter()
            .map(|path| code(&path.join(".")));
        rows.push(("not compared", paths.collect::<Vec<_>>().join(", ")));
    }
    if !spec.repeating_types().is_empty() {
        rows.push(("may repeat", codes(spec.repeating_types())));
    }
    rows
}

fn signature(in_body: bool, names: &[&str], delivery: &Delivery, id: &str) -> String {
    if in_body {
        return "in the body".to_owned();
    }
    let lines = names.iter().map(|name| {
        let value = String::from_utf8_lossy(delivery.value(name).unwrap_or_default());
        code(&format!("{name}: {}", mask(&value, id)))
    });
    lines.collect::<Vec<_>>().join(", ")
}

/// What is signed, and how, as the provider reads it from a delivery of its own.
fn scheme(provider: &dyn DynProvider, delivery: &Delivery) -> (String, String) {
    let fields = delivery.headers.iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_slice()));
    let target = delivery.target(&delivery.path);
    let unread = || ("unread".to_owned(), "unread".to_owned());
    let Ok(head) = Head::new(delivery.method, &target, fields) else {
        return unread();
    };
    let Ok(envelope) = provider.envelope(&head) else {
        return unread();
    };
    if provider.spec().is_plain_token() {
        let nothing = "nothing: the secret itself is shown".to_owned();
        return (nothing, "none".to_owned());
    }
    match envelope.untrusted_in(&delivery.body) {
        Some(Ok(inner)) => (template(&inner, true), algorithms(&inner)),
        Some(Err(_)) => unread(),
        None => (template(&envelope, false), algorithms(&envelope)),
    }
}

fn template(envelope: &Envelope<'_>, in_body: bool) -> String {
    let contents = envelope.contents().map(|content| {
        let pieces = content.iter().map(|segment| match segment {
            Segment::Body => "{body}".to_owned(),
            Segment::BodyCrc32 => "{CRC-32 of the body}".to_owned(),
            Segment::BodyForm => "{sorted parameters of the body}".to_owned(),
            Segment::BodySha256Hex => "{SHA-256 of the body}".to_owned(),
            Segment::Id => "{id}".to_owned(),
            Segment::Timestamp => "{timestamp}".to_owned(),
            // A member's name, a mark, or a value of the event at hand.
            Segment::Bytes(_) if in_body => "{member}".to_owned(),
            Segment::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => "{?}".to_owned(),
        });
        let mut pieces: Vec<String> = pieces.collect();
        pieces.dedup();
        code(&pieces.concat())
    });
    contents.collect::<Vec<_>>().join(" or ")
}

fn algorithms(envelope: &Envelope<'_>) -> String {
    let mut names: Vec<_> = envelope.algorithms().map(algorithm).collect();
    names.dedup();
    names.join(", ")
}

fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::EcdsaP256Sha256 => "ECDSA on P-256 with SHA-256",
        Algorithm::Ed25519 => "Ed25519",
        Algorithm::HmacSha1 => "HMAC-SHA1",
        Algorithm::HmacSha256 => "HMAC-SHA256",
        Algorithm::RsaPkcs1Sha256 => "RSA PKCS#1 v1.5 with SHA-256",
        _ => "another",
    }
}

fn secret(format: SecretFormat) -> String {
    let usually = |prefix: &str| match prefix {
        "" => String::new(),
        prefix => format!(", usually with {}", code(prefix)),
    };
    match format {
        SecretFormat::Base64 { prefix } => format!("base64 of the key{}", usually(prefix)),
        SecretFormat::Ed25519Hex => "a public key on Ed25519 in hex".to_owned(),
        SecretFormat::P256Spki => "a public key on P-256, SPKI in base64".to_owned(),
        SecretFormat::RsaSpki => "a public RSA key, SPKI in base64".to_owned(),
        SecretFormat::StandardWebhooks => {
            "`whsec_` and base64 of the key, or `whpk_` and a public key".to_owned()
        }
        SecretFormat::Text { prefix } => format!("the text{}", usually(prefix)),
        _ => "another format".to_owned(),
    }
}

fn timestamp(provider: &dyn DynProvider) -> String {
    let spec = provider.spec();
    let Some(window) = spec.window() else {
        return "**none**: a captured request is good for as long as its key".to_owned();
    };
    let place = match spec.body_timestamp() {
        Some((path, form)) => {
            let form = match form {
                TimestampForm::Millis => "in milliseconds",
                TimestampForm::Rfc3339 => "in RFC 3339",
                TimestampForm::Seconds => "in seconds",
                _ => "in another form",
            };
            format!("{} of the signed body, {form}", code(&path.join(".")))
        }
        None => "signed".to_owned(),
    };
    let (past, future) = (duration(window.past()), duration(window.future()));
    if past == future {
        format!("{place}; {past} on both sides")
    } else {
        format!("{place}; {past} behind our clock, {future} ahead of it")
    }
}

fn handshake(sender: &Sender) -> String {
    let spec = sender.provider().spec();
    let mut said = Vec::new();
    if spec.is_greeted() {
        said.push("a GET with a challenge, echoed");
    }
    if spec.proves_key() {
        said.push("a challenge, answered with a proof of the key");
    }
    if said.is_empty() {
        said.push("none declared; a signed one is in the crate's page");
    }
    said.join("; ")
}

fn redelivery(redelivery: Redelivery) -> String {
    match redelivery {
        Redelivery::For(span) => format!("for {}", duration(span)),
        Redelivery::Never => "never".to_owned(),
        _ => "not documented".to_owned(),
    }
}

fn resigns(resigns: Resigns) -> &'static str {
    match resigns {
        Resigns::No => "no",
        Resigns::Yes => "yes",
        _ => "not documented",
    }
}

fn duration(span: Duration) -> String {
    let secs = span.as_secs();
    let units = [
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let exact = units.iter().find(|(unit, _)| secs.is_multiple_of(*unit));
    let (unit, name) = exact.copied().unwrap_or((1, "second"));
    let count = secs.checked_div(unit).unwrap_or(secs);
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

fn bytes(count: usize) -> String {
    let units = [(1024 * 1024, "MiB"), (1024, "KiB")];
    let exact = units.iter().find(|(unit, _)| count.is_multiple_of(*unit));
    match exact {
        Some((unit, name)) => format!("{} {name}", count.checked_div(*unit).unwrap_or(count)),
        None => format!("{count} bytes"),
    }
}

// Input:  `t=1750000000,v1=5257a8…`
// Output: `t=<time>,v1=<hex>`
fn mask(value: &str, id: &str) -> String {
    let mut value = value.to_owned();
    for form in [
        TimestampForm::Rfc3339,
        TimestampForm::Millis,
        TimestampForm::Seconds,
    ] {
        value = value.replace(&form.write(NOW), "<time>");
    }
    if !id.is_empty() {
        value = value.replace(id, "<id>");
    }
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/');
    let mut masked = String::new();
    let mut rest = value.as_str();
    while let Some(first) = rest.chars().next() {
        let len = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(len.max(first.len_utf8()));
        rest = after;
        if word.len() < 27 {
            masked.push_str(word);
            continue;
        }
        let is_hex = word
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        masked.push_str(if is_hex { "<hex>" } else { "<base64>" });
        rest = rest.trim_start_matches('=');
    }
    masked
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

fn codes(texts: &[&str]) -> String {
    let texts = texts.iter().map(|text| code(text));
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_the_crates_say() {
        let written = include_str!("../../../../docs/providers.md");
        assert!(
            written == all(),
            "docs/providers.md has drifted: run `cargo xtask provider-pages`"
        );
    }

    #[test]
    fn what_differs_each_time_is_masked() {
        let hex = "0a".repeat(32);
        for (value, masked) in [
            (format!("t=1750000000,v1={hex}"), "t=<time>,v1=<hex>"),
            (format!("v1,{}=", "aB+/".repeat(10) + "abc"), "v1,<base64>"),
            ("evt_7".to_owned(), "<id>"),
            ("2025-06-15T15:06:40Z é".to_owned(), "<time> é"),
        ] {
            assert_eq!(mask(&value, "evt_7"), masked);
        }
    }
}
