//! Identity, read from signed bodies.

use webhook_core::InvalidEvent;
use webhook_timestamped::Timestamped;
use webhook_vectors::{Receiver, Seen};

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&Timestamped, &["0123456789abcdef01234567"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn payloads_are_named_and_handled_whole() {
    for (body, id, event_type) in [
        (
            include_str!("../testdata/payloads/note.created.json"),
            "evt_vLBXb5A2zXufJJQcVIVq",
            "note.created",
        ),
        (
            include_str!("../testdata/payloads/without-data.json"),
            "01JXT4M8Z3Q0S6K7V9B2C5D8EF",
            "demo.slow",
        ),
    ] {
        let seen = receive(body).unwrap();
        assert_eq!(
            (seen.id.as_str(), seen.event_type.as_str()),
            (id, event_type)
        );
        assert_eq!((seen.account.as_deref(), seen.outside), (None, None));
        assert_eq!(seen.payload, body);
        let whole: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(seen.handled(&Timestamped), Some(whole));
    }
}

#[test]
fn awkward_but_authentic_json_is_named() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for awkward in [
        r#""big":1e400"#,
        r#""lone":"\ud800","nul":"\u0000""#,
        r#""data":{"id":7,"type":8}"#,
        &format!(r#""deep":{deep}"#),
    ] {
        for body in [
            format!(r#"{{{awkward},"id":"evt_\u0031","type":"ünï code"}}"#),
            format!("\u{feff}\r\n{{\"type\":\"ünï code\",{awkward},\"id\":\"evt_1\"}}\n"),
        ] {
            let seen = receive(body).unwrap();
            assert_eq!(
                (seen.id.as_str(), seen.event_type.as_str()),
                ("evt_1", "ünï code")
            );
        }
    }
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let body = |id: &str, event_type: &str| format!(r#"{{"id":"{id}","type":"{event_type}"}}"#);
    let (fits, long) = ("é".repeat(127), "é".repeat(128));
    assert!(receive(body(&fits, &fits)).is_ok());
    for (body, why) in [
        (String::new(), Body),
        ("Hello, World!".into(), Body),
        ("[\"evt_1\",\"a\"]".into(), Body),
        ("\"evt_1\"".into(), Body),
        (body("1", "a") + "{}", Body),
        (body("1", r#"a","type":"a"#), Body),
        (body(r#"1","id":"1"#, "a"), Body),
        (r#"{"id":1,"type":"a"}"#.into(), Body),
        (r#"{"id":"1","type":null}"#.into(), Body),
        (r#"{"id":"\ud800","type":"a"}"#.into(), Body),
        ("{}".into(), Id),
        (body("", "a"), Id),
        (body(r"a\n", "a"), Id),
        (body(r"\u0000", "a"), Id),
        (body(r"\u0085", "a"), Id),
        (body(&long, "a"), Id),
        (r#"{"id":"1"}"#.into(), Type),
        (body("1", ""), Type),
        (body("1", r"a\u007f"), Type),
        (body("1", &long), Type),
    ] {
        assert_eq!(receive(body.as_str()).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
