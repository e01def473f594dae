//! Derived identity, and the handshake.

use serde_json::Value;
use webhook_core::{Handshake, InvalidEvent};
use webhook_vectors::{Received, Receiver, Seen};
use webhook_zoom::Zoom;

const STARTED: &str = include_str!("../testdata/payloads/meeting.started.json");

fn accept(body: impl Into<Vec<u8>>) -> Received {
    let receiver = Receiver::new(&Zoom, &["uWBv2CdgT58GCmwI5rgGlW"], 1_750_000_000);
    receiver.accept(&receiver.sign(body))
}

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    accept(body).event()
}

fn challenge(token: &str) -> Result<Option<Handshake>, InvalidEvent> {
    let body =
        format!(r#"{{"payload":{{"plainToken":{token}}},"event":"endpoint.url_validation"}}"#);
    accept(body).handshake
}

#[test]
fn payloads_are_named() {
    let received = accept(STARTED);
    assert_eq!(received.handshake, Ok(None));
    let seen = received.event().unwrap();
    assert_eq!(seen.event_type, "meeting.started");
    assert_eq!(
        (seen.account.as_deref(), seen.outside),
        (Some("SoWy6d0AMoJjAiAIP4Ifpa"), None)
    );
    assert_eq!(seen.id.len(), 64);
    let whole: Value = serde_json::from_str(STARTED).unwrap();
    assert_eq!(seen.handled(&Zoom).as_ref(), whole.get("payload"));
}

#[test]
fn what_says_the_same_is_the_same_event() {
    let id = |body: &str| receive(body).unwrap().id;
    let first = id(STARTED);
    let value: Value = serde_json::from_str(STARTED).unwrap();
    let spelled_anew = serde_json::to_string_pretty(&value).unwrap();
    assert_ne!(spelled_anew, STARTED);
    assert_eq!(id(&spelled_anew), first);
    for (from, to) in [
        ("1749999999600", "1749999999601"),
        ("meeting.started", "meeting.ended"),
        ("sCVssmV1Az1NH2cHrMeqRn==", "sCVssmV1Az1NH2cHrMeqRo=="),
        ("SoWy6d0AMoJjAiAIP4Ifpa", "SoWy6d0AMoJjAiAIP4Ifpb"),
    ] {
        let other = STARTED.replace(from, to);
        assert_ne!(other, STARTED, "{from}");
        assert_ne!(id(&other), first, "{from}");
    }
}

/// HMAC-SHA256 of the token under the secret: computed by Python's `hmac`, and by the vectors.
#[test]
fn challenges_are_answered_with_a_proof() {
    let answer = r#"{"plainToken":"pSiVGOz7cIERYMpS7YxrSc","encryptedToken":"7f6f968d64c7b236c9a46370179da24406a5aa962ef5ed37801bc51d49af48b2"}"#;
    assert_eq!(
        challenge(r#""pSiVGOz7cIERYMpS7YxrSc""#),
        Ok(Some(Handshake::json(answer)))
    );
    assert!(challenge(r#""ab+/-_==""#).unwrap().is_some());
    assert!(challenge(&format!(r#""{}""#, "a".repeat(256))).is_ok());
}

/// What could be signed content is never put under the key.
#[test]
fn no_challenge_becomes_a_signature() {
    for token in [
        r#""v0:1750000000:{}""#,
        r#""a:b""#,
        r#""v0:""#,
        r#""""#,
        r#"" ""#,
        r#""a\"b""#,
        r#""a\\b""#,
        r#""a\nb""#,
        r#""{}""#,
        r#""é""#,
        "null",
    ] {
        assert_eq!(challenge(token), Err(InvalidEvent::Body), "{token}");
    }
    let long = format!(r#""{}""#, "a".repeat(257));
    assert_eq!(challenge(&long), Err(InvalidEvent::Body));
    for body in [
        r#"{"event":"endpoint.url_validation"}"#,
        r#"{"event":"endpoint.url_validation","payload":null}"#,
        r#"{"event":"endpoint.url_validation","plainToken":"a","payload":{}}"#,
    ] {
        assert_eq!(accept(body).handshake, Err(InvalidEvent::Body), "{body}");
    }
}

/// It proves the key that verified the question, while one is rotated.
#[test]
fn the_proof_is_of_the_key_that_signed() {
    let body = r#"{"payload":{"plainToken":"a"},"event":"endpoint.url_validation"}"#;
    let (old, new) = ("uWBv2CdgT58GCmwI5rgGlW", "kJ3mVb9QxYt2LdR7sWcN0p");
    let both = Receiver::new(&Zoom, &[new, old], 1_750_000_000);
    let answer = |secret: &str| {
        let alone = Receiver::new(&Zoom, &[secret], 1_750_000_000);
        let request = alone.sign(body);
        let expected = alone.accept(&request).handshake;
        assert_eq!(both.accept(&request).handshake, expected);
        expected
    };
    assert_ne!(answer(old), answer(new));
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Type};
    let long = "x".repeat(256);
    let deep = "[".repeat(600);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"event":"a"}{}"#, Body),
        (r#"{"event":"a","event":"a"}"#, Body),
        (r#"{"event":1}"#, Body),
        (r#"{"event":"a","payload":"b"}"#, Body),
        (r#"{"event":"a","payload":{"account_id":1}}"#, Body),
        (&format!(r#"{{"event":"a","b":{deep}"#), Body),
        ("{}", Type),
        (r#"{"event":""}"#, Type),
        (r#"{"event":"a\u0000"}"#, Type),
        (&format!(r#"{{"event":"{long}"}}"#), Type),
        (r#"{"event":"a","payload":{"account_id":""}}"#, Account),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
    let unowned = receive(r#"{"event":"app_deauthorized"}"#).unwrap();
    assert_eq!(unowned.account, None);
}
