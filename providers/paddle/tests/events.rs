//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::InvalidEvent;
use webhook_paddle::Paddle;
use webhook_vectors::{Receiver, Seen};

const SECRET: &str = "pdl_ntfset_01gkdqbvvzyz6t2r8m9q4k7w5x_Qm8Yt";
const COMPLETED: &str = include_str!("../testdata/payloads/transaction.completed.json");

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&Paddle, &[SECRET], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn payloads_are_named() {
    let seen = receive(COMPLETED).unwrap();
    let named = (seen.id.as_str(), seen.event_type.as_str());
    assert_eq!(
        named,
        ("evt_01jtvrzwcs9c5znxfpck3om5js", "transaction.completed")
    );
    assert_eq!((seen.account.as_deref(), seen.outside), (None, None));
    let whole: Value = serde_json::from_str(COMPLETED).unwrap();
    assert_eq!(seen.handled(&Paddle).as_ref(), whole.get("data"));
}

/// The notification's id is another one for each destination and each replay.
#[test]
fn the_notification_is_not_the_event() {
    let body = r#"{"notification_id":"ntf_1","event_type":"a"}"#;
    assert_eq!(receive(body).unwrap_err(), InvalidEvent::Id);
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let long = "x".repeat(256);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        ("ts=1", Body),
        (r#"{"event_id":"1","event_type":"a"}{}"#, Body),
        (r#"{"event_id":"1","event_id":"1","event_type":"a"}"#, Body),
        (r#"{"event_id":1,"event_type":"a"}"#, Body),
        (r#"{"event_id":null,"event_type":"a"}"#, Body),
        ("{}", Id),
        (r#"{"event_id":"","event_type":"a"}"#, Id),
        (r#"{"event_id":"a\n","event_type":"a"}"#, Id),
        (r#"{"data":{"event_id":"1"},"event_type":"a"}"#, Id),
        (&format!(r#"{{"event_id":"{long}","event_type":"a"}}"#), Id),
        (r#"{"event_id":"1"}"#, Type),
        (r#"{"event_id":"1","event_type":""}"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
