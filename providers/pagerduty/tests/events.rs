//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::InvalidEvent;
use webhook_pagerduty::PagerDuty;
use webhook_vectors::{Receiver, Seen};

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&PagerDuty, &["zHTzm1bDaDwTyPNqf9AK8nE4rJ2w"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn payloads_are_named() {
    for (body, named) in [
        (
            include_str!("../testdata/payloads/incident.triggered.json"),
            ("01QDZG6YM4YJJYH7DFKJNVPN9T", "incident.triggered"),
        ),
        (
            include_str!("../testdata/payloads/pagey.ping.json"),
            ("01CDYSBT9HVXE8V4R2C1GMMCZ4", "pagey.ping"),
        ),
    ] {
        let seen = receive(body).unwrap();
        assert_eq!((seen.id.as_str(), seen.event_type.as_str()), named);
        assert_eq!((seen.account.as_deref(), seen.outside), (None, None));
        let whole: Value = serde_json::from_str(body).unwrap();
        assert_eq!(seen.handled(&PagerDuty).as_ref(), whole.get("event"));
    }
}

/// What a customer wrote stands in `data`, and names no event.
#[test]
fn only_members_of_the_event_name_it() {
    use InvalidEvent::{Body, Id, Type};
    for (body, why) in [
        (r#"{"id":"1","event_type":"a"}"#, Body),
        (r#"{"id":"1","event_type":"a","event":{}}"#, Id),
        (r#"{"event":{"data":{"id":"1","event_type":"a"}}}"#, Id),
        (r#"{"event":{"id":"1","data":{"event_type":"a"}}}"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let long = "x".repeat(256);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        ("{}", Body),
        (r#"{"event":null}"#, Body),
        (r#"{"event":"id"}"#, Body),
        (r#"{"event":{},"event":{}}"#, Body),
        (r#"{"event":{"id":"1","event_type":"a"}}{}"#, Body),
        (r#"{"event":{"id":"1","id":"1","event_type":"a"}}"#, Body),
        (r#"{"event":{"id":1,"event_type":"a"}}"#, Body),
        (r#"{"event":{"id":"","event_type":"a"}}"#, Id),
        (r#"{"event":{"id":"a\u0000","event_type":"a"}}"#, Id),
        (
            &format!(r#"{{"event":{{"id":"{long}","event_type":"a"}}}}"#),
            Id,
        ),
        (r#"{"event":{"id":"1"}}"#, Type),
        (r#"{"event":{"id":"1","event_type":""}}"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
