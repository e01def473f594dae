//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::InvalidEvent;
use webhook_typeform::Typeform;
use webhook_vectors::{Receiver, Seen};

const RESPONSE: &str = include_str!("../testdata/payloads/form_response.json");

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&Typeform, &["4yu8cJmPYp3qEoKx0Gd7"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn payloads_are_named() {
    let seen = receive(RESPONSE).unwrap();
    let named = (seen.id.as_str(), seen.event_type.as_str());
    assert_eq!(named, ("01HM3K8N2P9X4Q0RSTVWXYZ012", "form_response"));
    assert_eq!((seen.account.as_deref(), seen.outside), (None, None));
    let whole: Value = serde_json::from_str(RESPONSE).unwrap();
    assert_eq!(seen.handled(&Typeform).as_ref(), whole.get("form_response"));
}

/// Answers are a stranger's words, and name no event.
#[test]
fn only_members_of_the_root_name_it() {
    let body = r#"{"form_response":{"event_id":"1","event_type":"a"}}"#;
    assert_eq!(receive(body).unwrap_err(), InvalidEvent::Id);
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let long = "x".repeat(256);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"event_id":"1","event_type":"a"}{}"#, Body),
        (r#"{"event_id":"1","event_id":"1","event_type":"a"}"#, Body),
        (r#"{"event_id":1,"event_type":"a"}"#, Body),
        ("{}", Id),
        (r#"{"event_id":"","event_type":"a"}"#, Id),
        (r#"{"event_id":"a\n","event_type":"a"}"#, Id),
        (&format!(r#"{{"event_id":"{long}","event_type":"a"}}"#), Id),
        (r#"{"event_id":"1"}"#, Type),
        (r#"{"event_id":"1","event_type":""}"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
