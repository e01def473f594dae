//! The events of a list, and what handlers get.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::{Value, json};
use webhook_core::InvalidEvent;
use webhook_hubspot::{HubSpot, PublicUrl};
use webhook_vectors::{Receiver, Seen};

const BATCH: &str = include_str!("../testdata/payloads/batch.json");

fn hubspot() -> HubSpot {
    HubSpot::at(PublicUrl::new("https://hooks.acme.example").unwrap())
}

fn receive(body: impl Into<Vec<u8>>) -> Result<Vec<Seen>, InvalidEvent> {
    let hubspot = hubspot();
    let receiver = Receiver::new(
        &hubspot,
        &["b9cb3ab408a3ee66619c4f991fd2e60a"],
        1_750_000_000,
    );
    receiver.accept(&receiver.sign(body)).events
}

#[test]
fn each_item_is_an_event() {
    let seen = receive(BATCH).unwrap();
    let names: Vec<_> = seen
        .iter()
        .map(|seen| (&*seen.event_type, seen.account.as_deref()))
        .collect();
    let portal = Some("62515");
    assert_eq!(
        names,
        [
            ("contact.creation", portal),
            ("contact.propertyChange", portal)
        ]
    );
    assert_ne!(
        seen[0].id, seen[1].id,
        "equal `eventId`s name different events"
    );
    let whole: Value = serde_json::from_str(BATCH).unwrap();
    assert_eq!(seen[1].handled(&hubspot()).as_ref(), whole.get(1));
}

#[test]
fn a_retry_is_the_same_event() {
    let first = receive(BATCH).unwrap();
    let again = BATCH.replace(r#""attemptNumber":0"#, r#""attemptNumber":3"#);
    let again = receive(again).unwrap();
    assert!(
        first
            .iter()
            .zip(&again)
            .all(|(first, again)| first.id == again.id)
    );
    let later = BATCH.replace("1749999999200", "1749999999201");
    assert_ne!(receive(later).unwrap()[0].id, first[0].id);
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Count, Type};
    let many = Value::Array(vec![json!({"subscriptionType": "a"}); 1001]).to_string();
    for (body, why) in [
        ("", Body),
        ("{}", Body),
        ("[1]", Body),
        ("[[]]", Body),
        (r#"[{"subscriptionType":"a"}]x"#, Body),
        (r#"[{"subscriptionType":1}]"#, Body),
        (r#"[{"subscriptionType":"a","subscriptionType":"b"}]"#, Body),
        (r#"[{"subscriptionType":"a","portalId":"1"}]"#, Body),
        ("[{}]", Type),
        (r#"[{"subscriptionType":""}]"#, Type),
        (&many, Count),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert!(receive("[]").unwrap().is_empty());
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
