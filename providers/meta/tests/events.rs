//! The events of a batch, what handlers get, and the handshake.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::{Value, json};
use webhook_core::{DynProvider as _, Head, InvalidEvent};
use webhook_meta::Meta;
use webhook_vectors::{Receiver, Seen};

const WHATSAPP: &str = include_str!("../testdata/payloads/whatsapp.json");
const PAGE: &str = include_str!("../testdata/payloads/page.json");

fn receive(body: impl Into<Vec<u8>>) -> Result<Vec<Seen>, InvalidEvent> {
    let meta = Meta::verified_by("canary-token");
    let receiver = Receiver::new(&meta, &["a38b7411722fb81ef32f15baf185c5e5"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).events
}

fn named(seen: &Seen) -> (&str, &str, Option<&str>) {
    (&seen.event_type, &seen.id, seen.account.as_deref())
}

fn handled(seen: &Seen) -> Value {
    seen.handled(&Meta::verified_by("")).unwrap()
}

#[test]
fn each_message_and_status_is_an_event() {
    let seen = receive(WHATSAPP).unwrap();
    let account = Some("1029384756");
    let names: Vec<_> = seen.iter().map(named).collect();
    assert_eq!(
        names,
        [
            ("messages", "wamid.A", account),
            ("messages", "wamid.B", account),
            ("statuses", "wamid.C:delivered", account),
        ]
    );
    let second = handled(&seen[1]);
    assert_eq!(second["messages"].as_array().unwrap().len(), 1);
    assert_eq!(second["messages"][0]["text"]["body"], "ho");
    assert_eq!(
        second["contacts"],
        json!([{"profile": {"name": "Bob"}, "wa_id": "4915187654321"}])
    );
    assert_eq!(second["metadata"]["phone_number_id"], "106540352242922");
    let whole: Value = serde_json::from_slice(&seen[2].payload).unwrap();
    assert_eq!(whole["field"], "messages");
    assert_eq!(whole["entry"], json!({"id": "1029384756"}));
}

/// A retry need not hold the same batch.
#[test]
fn an_event_does_not_depend_on_what_comes_beside_it() {
    let mut batch: Value = serde_json::from_str(WHATSAPP).unwrap();
    let both = receive(WHATSAPP).unwrap();
    let messages = &mut batch["entry"][0]["changes"][0]["value"]["messages"];
    messages.as_array_mut().unwrap().remove(0);
    let alone = receive(batch.to_string()).unwrap();
    assert_eq!(named(&alone[0]), named(&both[1]));
    let content = |seen: &Seen| serde_json::from_slice::<Value>(&seen.payload).unwrap();
    assert_eq!(content(&alone[0]), content(&both[1]));
}

#[test]
fn messenger_items_and_changes_are_events() {
    let seen = receive(PAGE).unwrap();
    let names: Vec<_> = seen
        .iter()
        .map(|seen| (&*seen.event_type, seen.id.len()))
        .collect();
    assert_eq!(names, [("message", 9), ("read", 64), ("feed", 64)]);
    assert_eq!(seen[0].id, "m_AG5Hz2U");
    assert_eq!(handled(&seen[2])["post_id"], "113_9");
    // The time of a batch names a change, and not an item that bears its own.
    let later = PAGE.replace("1750000000123", "1750000000456");
    assert_eq!(receive(later).unwrap()[1].id, seen[1].id);
    let later = PAGE.replace("1750000001,", "1750000002,");
    assert_ne!(receive(later).unwrap()[2].id, seen[2].id);
}

#[test]
fn what_was_unsent_is_another_event_than_what_was_sent() {
    let item = |rest: &str| {
        let message = format!(r#"{{"message":{{"mid":"m_1"{rest}}},"sender":{{"id":"2"}}}}"#);
        format!(r#"{{"object":"instagram","entry":[{{"id":"1","messaging":[{message}]}}]}}"#)
    };
    let id = |rest: &str| receive(item(rest)).unwrap().remove(0).id;
    assert_eq!(id(r#","text":"a""#), "m_1");
    assert_eq!(id(r#","is_deleted":false"#), "m_1");
    assert_eq!(id(r#","is_deleted":true"#), "m_1:deleted");
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Id, Type};
    let change = |value: &str| {
        format!(
            r#"{{"object":"o","entry":[{{"id":"1","changes":[{{"field":"f","value":{value}}}]}}]}}"#
        )
    };
    let item =
        |item: &str| format!(r#"{{"object":"page","entry":[{{"id":"1","messaging":[{item}]}}]}}"#);
    for (body, why) in [
        (String::new(), Body),
        ("[]".into(), Body),
        ("{}".into(), Body),
        (r#"{"object":"page","entry":{}}"#.into(), Body),
        (r#"{"object":"page","entry":[{}]}"#.into(), Body),
        (r#"{"object":"page","entry":[],"entry":[]}"#.into(), Body),
        (change(r#"{"messages":{}}"#), Body),
        (change(r#"{"messages":[1]}"#), Body),
        (change(r#"{"messages":[{}]}"#), Body),
        (change(r#"{"messages":[{"id":"1"}],"contacts":1}"#), Body),
        (change(r#"{"messages":[{"id":""}]}"#), Id),
        (change(r#"{"statuses":[{"id":"1"}]}"#), Id),
        (item("1"), Body),
        (item(r#"{"sender":{},"timestamp":1}"#), Type),
        (item(r#"{"message":{"mid":""}}"#), Id),
        (change("1").replace(r#""1""#, r#""""#), Account),
        (change("1").replace(r#""f""#, r#""""#), Type),
    ] {
        assert_eq!(receive(&*body).unwrap_err(), why, "{body}");
    }
    assert!(
        receive(r#"{"object":"page","entry":[]}"#)
            .unwrap()
            .is_empty()
    );
    for value in ["1", "null", "[]", "{}", r#"{"a":1}"#] {
        assert_eq!(receive(change(value)).unwrap().len(), 1, "{value}");
    }
}

#[test]
fn batches_are_bounded_in_number_and_in_what_they_repeat() {
    let batch = |count: usize, shared: usize| {
        let messages: Vec<_> = (0..count)
            .map(|n| json!({"id": format!("wamid.{n}")}))
            .collect();
        let value = json!({"metadata": "x".repeat(shared), "messages": messages});
        let change = json!({"field": "messages", "value": value});
        json!({"object": "o", "entry": [{"id": "1", "changes": [change]}]}).to_string()
    };
    assert_eq!(receive(batch(1000, 100)).unwrap().len(), 1000);
    assert_eq!(receive(batch(1001, 100)).unwrap_err(), InvalidEvent::Count);
    assert_eq!(
        receive(batch(1000, 10_000)).unwrap_err(),
        InvalidEvent::Count
    );
}

#[test]
fn a_challenge_comes_back_to_whoever_knows_the_token() {
    let greet = |token: &'static str, target: &str| {
        let head = Head::new("GET", target, []).unwrap();
        let answer = Meta::verified_by(token).greet(&head);
        answer.map(|answer| String::from_utf8(answer.body.to_vec()).unwrap())
    };
    let good = "/meta?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=canary%2Dtoken";
    assert_eq!(greet("canary-token", good).as_deref(), Some("1158201444"));
    assert_eq!(greet("another-token", good), None);
    assert_eq!(greet("", &good.replace("canary%2Dtoken", "")), None);
    for (old, new) in [
        ("subscribe", "unsubscribe"),
        ("hub.mode=subscribe&", ""),
        ("hub.mode", "hub_mode"),
        ("hub.challenge=1158201444&", ""),
        ("1158201444", ""),
        ("1158201444", "%3Cscript%3E"),
        ("1158201444", "1&hub.challenge=2"),
        ("canary%2Dtoken", "canary-toke"),
        ("canary%2Dtoken", "Canary-token"),
        (
            "canary%2Dtoken",
            "canary-token&hub.verify_token=canary-token",
        ),
        ("?", "?hub.verify_token=x&"),
        ("?", ""),
    ] {
        assert_eq!(
            greet("canary-token", &good.replacen(old, new, 1)),
            None,
            "{old} {new}"
        );
    }
    assert!(!format!("{:?}", Meta::verified_by("canary-token")).contains("canary"));
}
