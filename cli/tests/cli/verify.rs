//! What `verify` says of requests that went wrong in one way.

use serde_json::Value;
use webhook_fixtures::{Setup, names, sender};

use crate::run::{Call, Ended, webhook};

const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";

/// A signed request, as `sign` prints it.
fn signed(provider: &str, secret: &str, more: &[&str]) -> Vec<u8> {
    let call = more.iter().fold(webhook(["sign", provider]), Call::arg);
    call.secret(secret).run().code(0).out
}

fn verify(provider: &str, secret: &str, request: &[u8]) -> Ended {
    webhook(["verify", provider, "--request", "-", "--json"])
        .secret(secret)
        .stdin(request)
        .run()
}

/// The reason, and everything that was said.
#[track_caller]
fn refused(provider: &str, secret: &str, request: &[u8]) -> (String, String) {
    let ended = verify(provider, secret, request).code(1);
    assert!(
        !ended.text().contains(secret.trim()),
        "a secret: {}",
        ended.text()
    );
    let value = ended.json();
    assert_eq!(value["accepted"], false);
    (value["reason"].as_str().unwrap().to_owned(), texts(&value))
}

fn texts(value: &Value) -> String {
    let steps = value["steps"].as_array().unwrap();
    let texts = steps.iter().map(|step| step["text"].as_str().unwrap());
    texts
        .chain(value["advice"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The request with its body changed and its head as it is.
fn with_body(request: &[u8], change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let body = body(request);
    let head = request.strip_suffix(&body[..]).unwrap();
    [head, &change(&body)].concat()
}

fn body(request: &[u8]) -> Vec<u8> {
    let end = b"\r\n\r\n";
    let at = request.windows(end.len()).position(|window| window == end);
    request[at.unwrap()..].strip_prefix(end).unwrap().to_vec()
}

#[test]
fn what_sign_signs_verify_takes() {
    for name in names() {
        let known = sender(name, &Setup::default()).unwrap();
        let request = signed(name, known.signing_secret(), &[]);
        let value = verify(name, known.example_secret(), &request)
            .code(0)
            .json();
        assert_eq!(value["reason"], "accepted", "{name}");
        assert!(texts(&value).contains("id "), "{name}: {value}");
    }
}

#[test]
fn a_stale_one_is_told_by_how_much() {
    let request = signed("stripe", SECRET, &["--at", "-1h"]);
    let (reason, said) = refused("stripe", SECRET, &request);
    assert_eq!(reason, "stale");
    assert!(
        said.contains("before the clock; 300 s are allowed") && said.contains("holds"),
        "{said}"
    );
    // When it arrived it was fresh.
    let call = webhook(["verify", "stripe", "--request", "-", "--at", "-1h"]);
    call.secret(SECRET).stdin(&request).run().code(0);
    let (reason, _) = refused("slack", SECRET, &signed("slack", SECRET, &["--at", "+1h"]));
    assert_eq!(reason, "future");
}

#[test]
fn a_re_serialised_body_is_named() {
    let request = signed(
        "stripe",
        SECRET,
        &["--set", "/data/object/description=Café/Zoë <3"],
    );
    let original = body(&request);
    let compact = serde_json::to_vec(&serde_json::from_slice::<Value>(&original).unwrap()).unwrap();
    for (changed, words) in [
        // What a JSON middleware hands over, whose keys this one sorted: only the order tells that it is not the original.
        (
            [&original[..], b"\n"].concat(),
            "without the line feed at its end",
        ),
        (
            original
                .strip_suffix(b"\n")
                .map_or(original.clone(), <[u8]>::to_vec),
            "",
        ),
        (
            String::from_utf8(original.clone())
                .unwrap()
                .replace('\n', "\r\n")
                .into_bytes(),
            "with a line feed for every CR LF",
        ),
        (
            [b"\xef\xbb\xbf", &original[..]].concat(),
            "without its byte-order mark",
        ),
    ] {
        if changed == original {
            continue;
        }
        let (reason, said) = refused("stripe", SECRET, &with_body(&request, |_| changed.clone()));
        assert_eq!(reason, "body-changed", "{said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(said.contains("`Content-Length` says"), "{said}");
    }
    // Signed compact, shown pretty.
    let folder = crate::run::Folder::new();
    let file = folder.file("body.json", &compact);
    let request = signed("stripe", SECRET, &["--body", &file]);
    let pretty = |body: &[u8]| {
        serde_json::to_vec_pretty(&serde_json::from_slice::<Value>(body).unwrap()).unwrap()
    };
    let (reason, said) = refused("stripe", SECRET, &with_body(&request, pretty));
    assert_eq!(reason, "body-changed");
    assert!(said.contains("over the body as JSON compact"), "{said}");
}

#[test]
fn a_secret_read_in_the_wrong_way_is_named() {
    let plain = SECRET.strip_prefix("whsec_").unwrap();
    for (provider, signer, given, words) in [
        // Stripe's key is the text; somebody signed with its prefix dropped, or decoded.
        ("stripe", plain, SECRET, "taken as text, without `whsec_`"),
        (
            "stripe",
            "0123456789abcdef01234567",
            SECRET,
            "decoded from base64",
        ),
        ("stripe", SECRET, plain, "with `whsec_` before it"),
        (
            "stripe",
            SECRET,
            &format!("\"{SECRET}\""),
            "without the quotes around it",
        ),
        (
            "stripe",
            SECRET,
            &format!("{SECRET}\n"),
            "without the white space around it",
        ),
        (
            "github",
            SECRET,
            &format!("KEY={SECRET}"),
            "without the `NAME=` before it",
        ),
    ] {
        let (reason, said) = refused(provider, given, &signed(provider, signer, &[]));
        assert_eq!(reason, "secret-encoding", "{provider} {given:?}: {said}");
        assert!(said.contains(words), "{words}: {said}");
    }
    // Standard's key is what the base64 decodes to; one that was taken as text verifies a sender that did the same.
    let standard = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
    let base64_of_text = "whsec_TURFeU16UTFOamM0T1dGaVkyUmxaakF4TWpNME5UWTM=";
    let (reason, said) = refused(
        "standard",
        standard,
        &signed("standard", base64_of_text, &[]),
    );
    assert_eq!(reason, "secret-encoding", "{said}");
    assert!(said.contains("taken as text, without `whsec_`"), "{said}");
}

#[test]
fn another_secret_or_body_is_not_guessed() {
    let request = signed("stripe", SECRET, &[]);
    let (reason, said) = refused("stripe", "whsec_quite-another-secret-000", &request);
    assert_eq!(reason, "no-match");
    assert!(said.contains("none of"), "{said}");
    let tampered = with_body(&request, |body| {
        String::from_utf8(body.to_vec())
            .unwrap()
            .replace("4999", "4998")
            .into_bytes()
    });
    assert_eq!(refused("stripe", SECRET, &tampered).0, "no-match");
}

#[test]
fn headers_are_looked_at_first() {
    let request = String::from_utf8(signed("stripe", SECRET, &[])).unwrap();
    let line = request
        .lines()
        .find(|line| line.to_lowercase().starts_with("stripe-signature"))
        .unwrap();
    let (_, value) = line.split_once(": ").unwrap();
    for (changed, reason, words) in [
        (
            request.replace(line, "X-Other: 1"),
            "header-missing",
            "`stripe-signature` is missing",
        ),
        (
            request.replace(line, &format!("HTTP_STRIPE_SIGNATURE: {value}")),
            "header-missing",
            "CGI and WSGI",
        ),
        (
            request.replace(line, &format!("{line}\r\n{line}")),
            "header-repeated",
            "with one value",
        ),
        (
            request.replace(line, &format!("Stripe-Signature: \"{value}\"")),
            "header-malformed",
            "Copy the value whole",
        ),
    ] {
        let (told, said) = refused("stripe", SECRET, changed.as_bytes());
        assert_eq!(told, reason, "{said}");
        assert!(said.contains(words), "{words}: {said}");
    }
    let (reason, said) = refused("stripe", SECRET, &signed("github", SECRET, &[]));
    assert_eq!(reason, "other-provider");
    assert!(said.contains("github"), "{said}");
}

#[test]
fn a_key_id_and_a_url_are_found() {
    let request = signed("timestamped", SECRET, &["--key-id", "2026-01"]);
    let (reason, said) = refused("timestamped", SECRET, &request);
    assert_eq!(reason, "key-id");
    assert!(said.contains("--key-id 2026-01"), "{said}");
    let request = signed(
        "square",
        SECRET,
        &["--url", "https://shop.example/hooks/square"],
    );
    let call = webhook([
        "verify",
        "square",
        "--request",
        "-",
        "--json",
        "--url",
        "http://shop.example/hooks/square/",
    ]);
    let value = call.secret(SECRET).stdin(&request).run().code(1).json();
    assert_eq!(value["reason"], "url-differs", "{value}");
    assert!(
        texts(&value).contains("https://shop.example/hooks/square"),
        "{value}"
    );
}

#[test]
fn authentic_bytes_may_be_no_event() {
    let folder = crate::run::Folder::new();
    let file = folder.file("body", "[]");
    let (reason, _) = refused(
        "stripe",
        SECRET,
        &signed("stripe", SECRET, &["--body", &file]),
    );
    assert_eq!(reason, "no-event");
}

#[test]
fn headers_and_body_may_come_apart() {
    let folder = crate::run::Folder::new();
    let request = signed("github", SECRET, &[]);
    let body = folder.file("body", body(&request));
    let fields = webhook(["sign", "github", "--format", "headers", "--body", &body])
        .secret(SECRET)
        .run()
        .code(0)
        .text();
    let headers = folder.file("headers", &fields);
    let call = || webhook(["verify", "github", "--body", &body]).secret(SECRET);
    call().arg("--headers").arg(headers).run().code(0);
    let mut each = call();
    for field in fields.lines() {
        each = each.arg("-H").arg(field);
    }
    each.run().code(0);
    let ended = call().run().code(2);
    assert!(ended.err.contains("--request"), "{}", ended.err);
}

#[test]
fn a_scheme_of_ones_own_comes_from_a_file() {
    let folder = crate::run::Folder::new();
    let scheme = r#"
        name = "acme"
        [signature]
        header = "Acme-Signature"
        content = "{timestamp}:{body}"
        [timestamp]
        header = "Acme-Time"
        [event]
        id = { body = "/order/id" }
        type = { body = "/kind" }
    "#;
    let file = folder.file("acme.toml", scheme);
    let body = folder.file("body", r#"{"order":{"id":"o-1"},"kind":"order.paid"}"#);
    let request = signed(&file, SECRET, &["--body", &body]);
    assert!(
        String::from_utf8_lossy(&request)
            .to_lowercase()
            .contains("acme-time: ")
    );
    let value = verify(&file, SECRET, &request).code(0).json();
    assert!(texts(&value).contains("order.paid, id o-1"), "{value}");
    let unsigned = scheme.replace(r#"{ body = "/order/id" }"#, r#"{ header = "Acme-Id" }"#);
    let unsigned = folder.file("unsigned.toml", unsigned);
    let request = signed(&unsigned, SECRET, &["--body", &body, "-H", "Acme-Id: o-2"]);
    let value = verify(&unsigned, SECRET, &request).code(0).json();
    assert!(texts(&value).contains("id o-2, not signed"), "{value}");
    let bad = folder.file("bad.toml", scheme.replace("{body}", ""));
    let ended = webhook(["sign", &bad]).secret(SECRET).run().code(2);
    assert!(ended.err.contains("bad.toml: "), "{}", ended.err);
}
