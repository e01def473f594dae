//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::{DynProvider, InvalidEvent, canonical_digest};
use webhook_intercom::Intercom;
use webhook_vectors::{Receiver, Seen};

const CREATED: &str = include_str!("../testdata/payloads/conversation.user.created.json");

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let secret = "4f7c1e90-77aa-4d1b-9a83-5d0c2b6e1f35";
    let receiver = Receiver::new(&Intercom, &[secret], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn payloads_are_named() {
    let seen = receive(CREATED).unwrap();
    let named = (seen.id.as_str(), seen.event_type.as_str());
    assert_eq!(
        named,
        (
            "notif_3f6b2a50-4a0c-11f0-9d1e-0242ac120002",
            "conversation.user.created"
        )
    );
    let account = (seen.account.as_deref(), seen.outside);
    assert_eq!(account, (Some("q7xk2m9d"), None));
    let whole: Value = serde_json::from_str(CREATED).unwrap();
    assert_eq!(
        seen.handled(&Intercom).as_ref(),
        whole.pointer("/data/item")
    );
}

#[test]
fn a_second_attempt_has_the_same_content() {
    let again = CREATED.replace(r#""delivery_attempts":1"#, r#""delivery_attempts":2"#);
    let changed = CREATED.replace(r#""state":"open""#, r#""state":"shut""#);
    assert!(again != CREATED && changed != CREATED);
    let volatile = DynProvider::spec(&Intercom).volatile_paths();
    let digest = |body: &str| canonical_digest(body.as_bytes(), volatile).unwrap();
    assert_eq!(digest(&again), digest(CREATED));
    assert_ne!(digest(&changed), digest(CREATED));
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Id, Type};
    let long = "x".repeat(256);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"id":"1","topic":"a"}{}"#, Body),
        (r#"{"id":"1","id":"1","topic":"a"}"#, Body),
        (r#"{"id":1,"topic":"a"}"#, Body),
        (r#"{"id":"1","topic":"a","app_id":1}"#, Body),
        ("{}", Id),
        (r#"{"id":"","topic":"a"}"#, Id),
        (r#"{"id":"a\n","topic":"a"}"#, Id),
        (r#"{"data":{"id":"1"},"topic":"a"}"#, Id),
        (&format!(r#"{{"id":"{long}","topic":"a"}}"#), Id),
        (r#"{"id":"1"}"#, Type),
        (r#"{"id":"1","topic":""}"#, Type),
        (r#"{"id":"1","data":{"topic":"a"}}"#, Type),
        (r#"{"id":"1","topic":"a","app_id":""}"#, Account),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
    assert_eq!(receive(r#"{"id":"1","topic":"a"}"#).unwrap().account, None);
}
