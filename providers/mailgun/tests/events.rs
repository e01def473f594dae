//! Identity from the token, and an event that nobody signed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::{Value, json};
use webhook_core::{DynProvider as _, InvalidEvent};
use webhook_mailgun::Mailgun;
use webhook_vectors::{Receiver, Seen};

const MAILGUN: Mailgun = Mailgun::dangerous_unsigned_events();
const DELIVERED: &str = r#"{"id":"7tQMy4lgi2oXhLclVT8x5c","event":"delivered","timestamp":1749999998.5,"recipient":"ann@acme.example"}"#;

fn receive(old: &str, new: &str) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(
        &MAILGUN,
        &["b9cb3ab408a3ee66619c4f991fd2e60a"],
        1_750_000_000,
    );
    let mut request = receiver.sign(DELIVERED);
    let body = String::from_utf8(request.body).unwrap();
    request.body = body.replacen(old, new, 1).into_bytes();
    receiver.accept(&request).event()
}

#[test]
fn the_token_names_the_event_whatever_that_is() {
    let seen = receive("", "").unwrap();
    assert_eq!(
        (&*seen.event_type, seen.account.as_deref()),
        ("delivered", None)
    );
    assert_eq!(seen.id.len(), 50);
    let whole: Value = serde_json::from_str(DELIVERED).unwrap();
    assert_eq!(seen.handled(&MAILGUN), Some(whole));
    // Forged under the same token: it meets the first one's claim.
    let forged = receive("delivered", "complained").unwrap();
    assert_eq!((&*forged.event_type, &forged.id), ("complained", &seen.id));
    assert_eq!(
        forged.handled(&MAILGUN).unwrap()["event"],
        json!("complained")
    );
    // So handlers are told that neither is signed, and the content is claimed too.
    assert!(!MAILGUN.signs_identity());
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Type};
    for (old, new, why) in [
        (r#","event-data""#, r#","event_data""#, Body),
        (r#","event-data""#, r#","event-data":{},"event-data""#, Body),
        (DELIVERED, "[]", Body),
        (DELIVERED, "1", Body),
        (DELIVERED, r#"{"event":1}"#, Body),
        (DELIVERED, r#"{"event":"a","event":"b"}"#, Body),
        (DELIVERED, "{}", Type),
        (DELIVERED, r#"{"event":""}"#, Type),
    ] {
        assert_eq!(receive(old, new).unwrap_err(), why, "{new}");
    }
}
