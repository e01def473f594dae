//! Identity: the signed id, and the type in the body.

use webhook_core::{EventId, InvalidEvent, Signing};
use webhook_standard::Standard;
use webhook_vectors::{Receiver, Request, Seen};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn receive(id: &str, body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let standard = Standard::new();
    let receiver = Receiver::new(&standard, &[SECRET], 1_750_000_000);
    let body = body.into();
    let signing = Signing::new(&receiver.keys, &body, receiver.now);
    let headers = receiver.provider.sign(&signing.id(EventId::new(id)?));
    receiver.accept(&Request::new(headers, body)).event()
}

#[test]
fn payloads_are_named() {
    for (body, event_type, has_data) in [
        (
            include_str!("../testdata/payloads/contact.created.json"),
            "contact.created",
            true,
        ),
        (
            include_str!("../testdata/payloads/without-data.json"),
            "user.updated",
            false,
        ),
    ] {
        let seen = receive("msg_é:/?=&", body).unwrap();
        assert_eq!(
            (seen.id.as_str(), seen.event_type.as_str()),
            ("msg_é:/?=&", event_type)
        );
        assert_eq!((seen.account.as_deref(), seen.outside), (None, None));
        assert_eq!(seen.payload, body);
        let whole: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(seen.handled(&Standard::new()), whole.get("data").cloned());
        assert_eq!(seen.handled(&Standard::new()).is_some(), has_data);
        assert_eq!(seen.handled(&Standard::new().whole_body()), Some(whole));
    }
}

#[test]
fn an_id_in_the_body_is_not_the_event_s() {
    let seen = receive("msg_1", r#"{"type":"a","id":"msg_2","webhook-id":"msg_3"}"#).unwrap();
    assert_eq!(seen.id, "msg_1");
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Type};
    let long = "é".repeat(128);
    for (body, why) in [
        ("", Body),
        ("Hello, World!", Body),
        (r#"["a"]"#, Body),
        (r#"{"type":"a"}{}"#, Body),
        (r#"{"type":"a","type":"a"}"#, Body),
        (r#"{"type":1}"#, Body),
        (r#"{"type":"\ud800"}"#, Body),
        ("{}", Type),
        (r#"{"type":""}"#, Type),
        (r#"{"event_type":"a"}"#, Type),
        (r#"{"type":"a\u0000"}"#, Type),
        (&format!(r#"{{"type":"{long}"}}"#), Type),
    ] {
        assert_eq!(receive("msg_1", body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive("msg_1", b"\xff\xfe\0").unwrap_err(), Body);
}
