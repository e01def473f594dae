//! The three kinds of message, told apart by the signed body.

use serde_json::Value;
use webhook_core::{EventId, Handshake, InvalidEvent, Signing};
use webhook_twitch::Twitch;
use webhook_vectors::{Received, Receiver, Request, Seen};

const ID: &str = "482b7cb9-2049-48b2-a849-7c27e6383242";
const FOLLOW: &str = include_str!("../testdata/payloads/channel.follow.json");
const REVOCATION: &str = include_str!("../testdata/payloads/revocation.json");
const CHALLENGE: &str = include_str!("../testdata/payloads/challenge.json");

fn accept(body: impl Into<Vec<u8>>) -> Result<Received, InvalidEvent> {
    let receiver = Receiver::new(&Twitch, &["s3cre77890ab"], 1_750_000_000);
    let body = body.into();
    let signing = Signing::new(&receiver.keys, &body, receiver.now);
    let headers = receiver.provider.sign(&signing.id(EventId::new(ID)?));
    let request = Request::new(headers, body)
        .header("Twitch-Eventsub-Message-Retry", "1")
        // A forger's: it is not signed.
        .header(
            "Twitch-Eventsub-Message-Type",
            "webhook_callback_verification",
        )
        .header("Twitch-Eventsub-Subscription-Type", "stream.online");
    Ok(receiver.accept(&request))
}

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    accept(body)?.event()
}

#[test]
fn payloads_are_named() {
    for (body, event_type) in [(FOLLOW, "channel.follow"), (REVOCATION, "revocation")] {
        let received = accept(body).unwrap();
        assert_eq!(received.handshake, Ok(None), "{body}");
        let seen = received.event().unwrap();
        assert_eq!(
            (seen.id.as_str(), seen.event_type.as_str()),
            (ID, event_type)
        );
        assert_eq!((seen.account.as_deref(), seen.outside), (None, None));
        let whole: Value = serde_json::from_str(body).unwrap();
        assert_eq!(seen.handled(&Twitch), Some(whole));
        assert_eq!(seen.headers.get("twitch-eventsub-message-retry"), Some("1"));
    }
}

/// A batch, as `drop.entitlement.grant` has it.
#[test]
fn several_events_are_a_notification_too() {
    let body = r#"{"subscription":{"type":"drop.entitlement.grant","status":"enabled"},"events":[{"id":"1"}]}"#;
    assert_eq!(receive(body).unwrap().event_type, "drop.entitlement.grant");
}

#[test]
fn challenges_are_echoed() {
    let answer = Handshake::plain("pogchamp-kappa-360noscope-vohiyo");
    let handshake = |body: &str| accept(body).unwrap().handshake;
    assert_eq!(handshake(CHALLENGE), Ok(Some(answer)));
    let long = "x".repeat(4097);
    for challenge in ["", "a\\n", "\\u0000", &long] {
        let body = format!(r#"{{"challenge":"{challenge}"}}"#);
        assert_eq!(handshake(&body), Err(InvalidEvent::Body), "{body}");
    }
    // Not where an event's words could put it.
    let within = r#"{"event":{"challenge":"a"},"subscription":{"type":"a"}}"#;
    assert_eq!(handshake(within), Ok(None));
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Type};
    let long = "x".repeat(256);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"event":{},"subscription":{"type":"a"}}{}"#, Body),
        (
            r#"{"event":{},"event":{},"subscription":{"type":"a"}}"#,
            Body,
        ),
        (r#"{"event":{},"subscription":"a"}"#, Body),
        (r#"{"event":{},"subscription":{"type":1}}"#, Body),
        ("{}", Type),
        (r#"{"event":{}}"#, Type),
        (r#"{"event":{},"subscription":{}}"#, Type),
        (r#"{"event":{},"subscription":{"type":""}}"#, Type),
        (
            &format!(r#"{{"event":{{}},"subscription":{{"type":"{long}"}}}}"#),
            Type,
        ),
        // Nothing happened, and nothing ended.
        (r#"{"subscription":{"type":"a","status":"enabled"}}"#, Type),
        (r#"{"subscription":{"type":"a"}}"#, Type),
        (
            r#"{"event":null,"subscription":{"type":"a","status":"enabled"}}"#,
            Type,
        ),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
