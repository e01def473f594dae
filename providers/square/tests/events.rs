//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::InvalidEvent;
use webhook_square::Square;
use webhook_vectors::{Receiver, Seen};

const UPDATED: &str = include_str!("../testdata/payloads/payment.updated.json");

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let square = Square::at("https://hooks.acme.example/square");
    let receiver = Receiver::new(&square, &["asdf1234-signature-key"], 1_750_000_000);
    let signed = receiver.sign(body).header("square-retry-number", "2");
    receiver.accept(&signed).event()
}

#[test]
fn payloads_are_named() {
    let seen = receive(UPDATED).unwrap();
    let named = (seen.id.as_str(), seen.event_type.as_str());
    assert_eq!(
        named,
        ("378c1669-923f-4815-aa53-b05ca1a51390", "payment.updated")
    );
    assert_eq!(
        (seen.account.as_deref(), seen.outside),
        (Some("MLsDy0gLQh4V9"), None)
    );
    let whole: Value = serde_json::from_str(UPDATED).unwrap();
    let square = Square::at("");
    assert_eq!(seen.handled(&square).as_ref(), whole.get("data"));
    assert_eq!(seen.headers.get("square-retry-number"), Some("2"));
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Id, Type};
    let long = "x".repeat(256);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"event_id":"1","type":"a"}{}"#, Body),
        (r#"{"event_id":"1","event_id":"1","type":"a"}"#, Body),
        (r#"{"event_id":1,"type":"a"}"#, Body),
        (r#"{"event_id":"1","type":"a","merchant_id":1}"#, Body),
        ("{}", Id),
        (r#"{"event_id":"","type":"a"}"#, Id),
        (r#"{"event_id":"a\n","type":"a"}"#, Id),
        (r#"{"data":{"event_id":"1"},"type":"a"}"#, Id),
        (&format!(r#"{{"event_id":"{long}","type":"a"}}"#), Id),
        (r#"{"event_id":"1"}"#, Type),
        (r#"{"event_id":"1","type":""}"#, Type),
        (r#"{"event_id":"1","data":{"type":"a"}}"#, Type),
        (r#"{"event_id":"1","type":"a","merchant_id":""}"#, Account),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
    let unowned = receive(r#"{"event_id":"1","type":"a"}"#).unwrap();
    assert_eq!(unowned.account, None);
}
