//! The secret token of older hooks: what is believed under it, and what is claimed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::Value;
use webhook_core::{DynProvider as _, InvalidEvent, Rejection};
use webhook_gitlab::{GitLab, GitLabPlainToken};
use webhook_vectors::{Received, Receiver, Request};

const PLAIN: GitLabPlainToken = GitLab::dangerous_plain_token();
const TOKEN: &str = "VUqZp9xtGvLe8OHx2cFK39dYQqNskevr";

/// The runner of vectors wants signed bytes, and here are none.
#[test]
fn vectors_come_out_as_written() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../testdata/plain.json")).unwrap();
    assert_eq!(cases.len(), 9);
    for case in cases {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = |name: &str| case[name].as_array().unwrap().clone();
        let secrets: Vec<_> = list("secrets").iter().map(text).collect();
        let secrets: Vec<_> = secrets.iter().map(String::as_str).collect();
        let headers = list("headers");
        let headers = headers.iter().map(|pair| (text(&pair[0]), text(&pair[1])));
        let request = Request::new(headers, text(&case["body_utf8"]));
        let came = match Receiver::new(&PLAIN, &secrets, 0).receive(&request) {
            Ok(_) => "valid",
            Err(Rejection::Malformed(_)) => "malformed",
            Err(Rejection::SignatureMismatch) => "bad_signature",
            Err(other) => panic!("{other}"),
        };
        assert_eq!(came, case["expect"], "{}", case["name"]);
    }
}

fn receive(headers: &[(&str, &str)], body: &str) -> Received {
    let request = Request::new(headers.iter().copied(), body);
    let receiver = Receiver::new(&PLAIN, &[TOKEN], 1_750_000_000);
    receiver.accept(&request.header("X-Gitlab-Token", TOKEN))
}

#[test]
fn everything_is_unsigned() {
    let body = r#"{"object_kind":"push","project":{"id":15}}"#;
    let seen = receive(&[("Idempotency-Key", "1")], body).event().unwrap();
    assert_eq!((&*seen.id, &*seen.event_type), ("1", "push"));
    assert_eq!(
        (seen.account.as_deref(), &*seen.payload),
        (Some("15"), body.as_bytes())
    );
    assert!(!PLAIN.signs_identity());
    for (headers, why) in [
        (&[][..], InvalidEvent::Id),
        (&[("Idempotency-Key", "")], InvalidEvent::Id),
        (&[("X-Gitlab-Event-UUID", "1")], InvalidEvent::Id),
        (
            &[("Idempotency-Key", "1"), ("Idempotency-Key", "1")],
            InvalidEvent::Id,
        ),
    ] {
        assert_eq!(receive(headers, body).event().unwrap_err(), why);
    }
}

#[test]
fn a_signature_is_no_token_and_a_token_no_signature() {
    let token = Request::new([("X-Gitlab-Token", TOKEN), ("Idempotency-Key", "1")], "{}");
    let receiver = Receiver::new(
        &GitLab,
        &["whsec_wltYeW1zr/oq4g/LB+mCzvQc0yKyFnuMw3ATX7p1Zc8="],
        0,
    );
    assert!(matches!(
        receiver.receive(&token),
        Err(Rejection::Malformed(_))
    ));
    let signed = receiver.sign("{}");
    let receiver = Receiver::new(&PLAIN, &[TOKEN], 0);
    assert!(matches!(
        receiver.receive(&signed),
        Err(Rejection::Malformed(_))
    ));
}
