//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::InvalidEvent;
use webhook_vectors::{Receiver, Seen};
use webhook_zendesk::Zendesk;

const CHANGED: &str = include_str!("../testdata/payloads/user.active_changed.json");

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let secret = "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==";
    let receiver = Receiver::new(&Zendesk, &[secret], 1_750_000_000);
    let signed = receiver.sign(body);
    let signed = signed.header("X-Zendesk-Webhook-Invocation-Id", "8350205582");
    receiver.accept(&signed).event()
}

#[test]
fn payloads_are_named() {
    let seen = receive(CHANGED).unwrap();
    assert_eq!(seen.id, "2b24ef10-19d4-4740-93cf-8f98ec4776c0");
    assert_eq!(seen.event_type, "zen:event-type:user.active_changed");
    assert_eq!(
        (seen.account.as_deref(), seen.outside),
        (Some("12514403"), None)
    );
    let whole: Value = serde_json::from_str(CHANGED).unwrap();
    assert_eq!(seen.handled(&Zendesk), Some(whole));
    let invocation = seen.headers.get("x-zendesk-webhook-invocation-id");
    assert_eq!(invocation, Some("8350205582"));
}

/// A trigger sends whatever an administrator wrote.
#[test]
fn what_a_trigger_sends_names_no_event() {
    let body = r#"{"ticket":{"id":"35436","status":"open"}}"#;
    assert_eq!(receive(body).unwrap_err(), InvalidEvent::Id);
    let form = "ticket_id=35436&status=open";
    assert_eq!(receive(form).unwrap_err(), InvalidEvent::Body);
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let long = "x".repeat(256);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"id":"1","type":"a"}{}"#, Body),
        (r#"{"id":"1","id":"1","type":"a"}"#, Body),
        (r#"{"id":1,"type":"a"}"#, Body),
        (r#"{"id":"1","type":"a","account_id":"1"}"#, Body),
        (r#"{"id":"1","type":"a","account_id":-1}"#, Body),
        ("{}", Id),
        (r#"{"id":"","type":"a"}"#, Id),
        (r#"{"id":"a\n","type":"a"}"#, Id),
        (r#"{"detail":{"id":"1"},"type":"a"}"#, Id),
        (&format!(r#"{{"id":"{long}","type":"a"}}"#), Id),
        (r#"{"id":"1"}"#, Type),
        (r#"{"id":"1","type":""}"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
    let unowned = receive(r#"{"id":"1","type":"a"}"#).unwrap();
    assert_eq!(unowned.account, None);
}
