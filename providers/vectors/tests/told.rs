//! What an author is told whose provider or vector file is wrong.

use std::panic;

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Signed, Signing,
    Spec, Verified, Window, Wire,
};
use webhook_vectors::run;

/// Signs `t:body`.
#[derive(Debug)]
struct Colon(Wire);

impl Provider for Colon {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        self.0.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        self.0.write(with)
    }

    fn identities(&self, _: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        Err(InvalidEvent::Body)
    }
}

static SPEC: Spec = Spec::timestamped("colon", Window::FIVE_MINUTES);

const fn wire(content: &'static [Part]) -> Wire {
    let grammar = Grammar::Pairs {
        separator: ';',
        timestamp: "t",
        tag: "s",
    };
    Wire::hmac_sha256("x-colon", grammar, content)
}

const RIGHT: Wire = wire(&[Part::Timestamp, Part::Literal(":"), Part::Body]);
const OTHER_BYTES: Wire = wire(&[Part::Timestamp, Part::Literal("."), Part::Body]);

/// `printf '1750000000:{}' | openssl dgst -sha256 -hmac 0123456789abcdef`
const GOOD: &str = r#"[{
    "name": "good", "secrets": ["0123456789abcdef"], "body_base64": "e30=", "now": 1750000000, "tolerance": 300,
    "headers": [["X-Colon", "t=1750000000;s=497787bff65364a5dadea95ec25e95456cdc9526a60e38570f5dd8a93698c913"]],
    "expect": "valid", "signed_base64": "MTc1MDAwMDAwMDp7fQ=="
}]"#;

/// The message of `run`, if it fails.
fn told(wire: Wire, json: &str) -> Option<String> {
    let fault = panic::catch_unwind(|| run(&Colon(wire), json)).err()?;
    fault.downcast().ok().map(|message| *message)
}

#[test]
fn a_good_case_passes() {
    assert_eq!(told(RIGHT, GOOD), None);
}

#[test]
fn a_failure_is_told_once_and_with_its_cause() {
    let other_secret = GOOD.replace("0123456789abcdef", "fedcba9876543210");
    let blank_secret = GOOD.replace("0123456789abcdef", "");
    let comma = GOOD.replace(";s=", ",s=");
    let timeless = GOOD.replace(r#""tolerance": 300,"#, "");
    let pessimist = GOOD.replace(r#""expect": "valid""#, r#""expect": "stale""#);
    for (wire, json, why) in [
        (
            OTHER_BYTES,
            GOOD,
            "is bad_signature, should be valid: a header signs `signed_base64`, the provider takes",
        ),
        (
            RIGHT,
            &other_secret,
            "is bad_signature, should be valid: no header is a MAC over `signed_base64`",
        ),
        (
            RIGHT,
            &blank_secret,
            "is unknown_key, should be valid: key 1 is empty",
        ),
        (
            RIGHT,
            &comma,
            "is malformed, should be valid: timestamp is not canonical",
        ),
        (
            RIGHT,
            &timeless,
            "has no `tolerance`, and timestamps are signed",
        ),
        (
            RIGHT,
            &pessimist,
            "is valid, should be stale: its signature verifies",
        ),
    ] {
        let told = told(wire, json).expect("a failure");
        assert_eq!(told.matches("good: ").count(), 1, "{told}");
        assert!(told.contains(&format!("good: {why}")), "{told}");
    }
}
