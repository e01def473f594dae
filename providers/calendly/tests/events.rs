//! Derived identity, and what handlers get.

use serde_json::Value;
use webhook_calendly::Calendly;
use webhook_core::InvalidEvent;
use webhook_vectors::{Receiver, Seen};

const CREATED: &str = include_str!("../testdata/payloads/invitee.created.json");
const URI: &str =
    "https://api.calendly.com/scheduled_events/AAAABBBBCCCCDDDD/invitees/EEEEFFFFGGGGHHHH";

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&Calendly, &["vGzC0nN9Q4cR2p1wYxT6uKf8"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn payloads_are_named() {
    let seen = receive(CREATED).unwrap();
    assert_eq!(seen.id, format!("invitee.created {URI}"));
    assert_eq!(seen.event_type, "invitee.created");
    assert_eq!((seen.account.as_deref(), seen.outside), (None, None));
    let whole: Value = serde_json::from_str(CREATED).unwrap();
    assert_eq!(seen.handled(&Calendly).as_ref(), whole.get("payload"));
}

/// A retry, and the same event by another subscription, are the same event.
#[test]
fn moment_and_subscriber_of_a_delivery_do_not_name_it() {
    let id = |body: &str| receive(body).unwrap().id;
    let again = CREATED
        .replace("2025-06-15T15:06:39.000000Z", "2025-06-15T15:09:00.000000Z")
        .replace("IIIIJJJJKKKKLLLL", "MMMMNNNNOOOOPPPP");
    assert_ne!(again, CREATED);
    assert_eq!(id(&again), id(CREATED));
    let canceled = CREATED.replace("invitee.created", "invitee.canceled");
    assert_ne!(id(&canceled), id(CREATED));
}

/// A host can take back that somebody did not come, and say it again.
#[test]
fn what_can_happen_twice_is_named_by_its_moment_too() {
    let no_show = |updated_at: &str| {
        let body = format!(
            r#"{{"event":"invitee_no_show.created","payload":{{"uri":"u","updated_at":{updated_at}}}}}"#
        );
        receive(body).map(|seen| seen.id)
    };
    assert_eq!(no_show(r#""1""#).unwrap(), "invitee_no_show.created u 1");
    assert_eq!(no_show(r#""2""#).unwrap(), "invitee_no_show.created u 2");
    for unnamed in ["null", r#""""#, r#""1 2""#] {
        assert_eq!(no_show(unnamed), Err(InvalidEvent::Id), "{unnamed}");
    }
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let long = "x".repeat(250);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        ("{}", Body),
        (r#"{"event":"invitee.created"}"#, Body),
        (r#"{"event":"invitee.created","payload":null}"#, Body),
        (r#"{"event":"invitee.created","payload":{"uri":1}}"#, Body),
        (r#"{"event":1,"payload":{"uri":"u"}}"#, Body),
        (
            r#"{"event":"invitee.created","payload":{"uri":"u","uri":"u"}}"#,
            Body,
        ),
        (
            r#"{"event":"invitee.created","payload":{"uri":"u"}}{}"#,
            Body,
        ),
        (r#"{"payload":{"uri":"u"}}"#, Type),
        (r#"{"event":"","payload":{"uri":"u"}}"#, Type),
        (r#"{"event":"a\u0000","payload":{"uri":"u"}}"#, Type),
        (r#"{"event":"invitee.created","payload":{}}"#, Id),
        (r#"{"event":"invitee.created","payload":{"uri":null}}"#, Id),
        (r#"{"event":"invitee.created","payload":{"uri":""}}"#, Id),
        (r#"{"event":"invitee.created","payload":{"uri":"a b"}}"#, Id),
        (r#"{"event":"invitee.created","uri":"u","payload":{}}"#, Id),
        (
            &format!(r#"{{"event":"invitee.created","payload":{{"uri":"{long}"}}}}"#),
            Id,
        ),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
