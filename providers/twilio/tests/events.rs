//! Identity, and what handlers get.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::json;
use webhook_core::{ContentDigest, InvalidEvent, Signing};
use webhook_twilio::{PublicUrl, Twilio};
use webhook_vectors::{Receiver, Request, Seen};

const STREAM: &str = include_str!("../testdata/payloads/stream.json");
const ACCOUNT: &str = "ACf54284343de5a230f9c36b9f2e4e00f3";

fn twilio() -> Twilio {
    Twilio::at(PublicUrl::new("https://hooks.acme.example").unwrap())
}

/// What comes of `body`, sent to `target` under the signature of `signed`.
fn receive_as(target: &str, body: &str, signed: (&str, &str)) -> Result<Vec<Seen>, InvalidEvent> {
    use webhook_core::Provider as _;
    let twilio = if target.contains("bodySHA256=") {
        twilio().json()
    } else {
        twilio()
    };
    let receiver = Receiver::new(
        &twilio,
        &["a5908bb42dbc88d9d266b27f0a1a956b"],
        1_750_000_000,
    );
    let signing = Signing::new(&receiver.keys, signed.1.as_bytes(), receiver.now).to(signed.0);
    let request = Request::new(twilio.sign(&signing), body).to("POST", target);
    receiver.accept(&request).events
}

fn form(body: &str) -> Result<Seen, InvalidEvent> {
    receive_as("/twilio", body, ("/twilio", body)).map(|mut seen| seen.remove(0))
}

fn json_body(body: &str) -> Result<Vec<Seen>, InvalidEvent> {
    let target = format!("/twilio?bodySHA256={}", ContentDigest::of(body.as_bytes()));
    receive_as(&target, body, (&target, body))
}

#[test]
fn a_form_is_an_event() {
    let seen = form(&format!(
        "MessageSid=SM1&AccountSid={ACCOUNT}&Body=a%0Ab&Digits=2&Digits=1"
    ))
    .unwrap();
    assert_eq!(
        (&*seen.event_type, seen.account.as_deref()),
        ("message", Some(ACCOUNT))
    );
    let members =
        json!({"MessageSid": "SM1", "AccountSid": ACCOUNT, "Body": "a\nb", "Digits": ["1", "2"]});
    assert_eq!(seen.handled(&twilio()), Some(members));
}

#[test]
fn types_are_told_by_what_is_there() {
    for (body, event_type) in [
        ("SmsSid=SM1", "message"),
        ("MessageSid=SM1&MessageStatus=sent", "message_status"),
        ("CallSid=CA1&CallStatus=ringing", "call"),
        (
            "CallSid=CA1&CallbackSource=call-progress-events",
            "call_status",
        ),
        ("CallSid=CA1&RecordingSid=RE1", "recording"),
        ("MessageSid=IM1&EventType=onMessageAdded", "onMessageAdded"),
        ("Sid=X", "form"),
        ("", "form"),
    ] {
        assert_eq!(form(body).unwrap().event_type, event_type, "{body}");
    }
}

/// What the scheme does not tell apart is one event.
#[test]
fn a_border_that_was_moved_makes_no_other_event() {
    let body = "From=1&MessageSid=SM1&To=2";
    let first = form(body).unwrap();
    for (target, moved) in [
        ("/twilio", "To=2&MessageSid=SM1&From=1"),
        ("/twilio", "From=1MessageSidSM1&To=2"),
        ("/twilio", "From=1&MessageSid=SM1To2"),
        ("/twilioFrom1", "MessageSid=SM1&To=2"),
    ] {
        let again = receive_as(target, moved, ("/twilio", body))
            .unwrap()
            .remove(0);
        assert_eq!(again.id, first.id, "{target} {moved}");
    }
    let statuses =
        ["sent", "delivered"].map(|status| form(&format!("MessageStatus={status}")).unwrap().id);
    assert_ne!(statuses[0], statuses[1]);
}

#[test]
fn cloud_events_name_themselves() {
    let seen = json_body(STREAM).unwrap().remove(0);
    assert_eq!(
        (&*seen.event_type, &*seen.id, seen.account.as_deref()),
        (
            "com.twilio.messaging.message.delivered",
            "EZ0b1c2d3e4f5061728394a5b6c7d8e9f0",
            None
        )
    );
    assert_eq!(
        seen.handled(&twilio()).unwrap()["data"]["messageStatus"],
        "DELIVERED"
    );
    let other = json_body(r#"{"a":1}"#).unwrap().remove(0);
    assert_eq!((&*other.event_type, other.id.len()), ("json", 64));
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Id, Type};
    for sid in [
        "",
        "AC1",
        &format!("{ACCOUNT}0"),
        &ACCOUNT.to_lowercase(),
        &ACCOUNT.replace('f', "g"),
    ] {
        assert_eq!(
            form(&format!("AccountSid={sid}")).unwrap_err(),
            Account,
            "{sid}"
        );
    }
    let twice = format!("AccountSid={ACCOUNT}&AccountSid=AC1");
    assert_eq!(form(&twice).unwrap_err(), Account);
    assert_eq!(form("EventType=").unwrap_err(), Type);
    for (body, why) in [
        ("", Body),
        ("1", Body),
        ("[1]", Body),
        ("[{}]", Body),
        (r#"[{"id":"1","type":"a"}]x"#, Body),
        (r#"[{"id":"","type":"a"}]"#, Id),
        (r#"[{"id":"1","type":""}]"#, Type),
    ] {
        assert_eq!(json_body(body).unwrap_err(), why, "{body}");
    }
}
