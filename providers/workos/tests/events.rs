//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::InvalidEvent;
use webhook_vectors::{Receiver, Seen};
use webhook_workos::WorkOs;

const UPDATED: &str = include_str!("../testdata/payloads/dsync.user.updated.json");

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&WorkOs, &["SgQmY4nJ1b8ZpK0wXvT5cRf7L"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn payloads_are_named() {
    let seen = receive(UPDATED).unwrap();
    let named = (seen.id.as_str(), seen.event_type.as_str());
    assert_eq!(
        named,
        ("event_07FKJ843CVE8F7BXQSPFH0M53V", "dsync.user.updated")
    );
    assert_eq!(
        (seen.account.as_deref(), seen.outside),
        (Some("org_01EZTR6WYX1A0DSE2CYMGXQ24Y"), None)
    );
    let whole: Value = serde_json::from_str(UPDATED).unwrap();
    assert_eq!(seen.handled(&WorkOs).as_ref(), whole.get("data"));
}

#[test]
fn not_every_event_is_an_organisation_s() {
    for data in ["null", "{}", r#"{"organization_id":null}"#] {
        let body = format!(r#"{{"id":"1","event":"user.created","data":{data}}}"#);
        assert_eq!(receive(body).unwrap().account, None, "{data}");
    }
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Id, Type};
    let long = "x".repeat(256);
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"id":"1","event":"a"}{}"#, Body),
        (r#"{"id":"1","id":"1","event":"a"}"#, Body),
        (r#"{"id":1,"event":"a"}"#, Body),
        (r#"{"id":"1","event":{},"data":{}}"#, Body),
        (r#"{"id":"1","event":"a","data":"b"}"#, Body),
        ("{}", Id),
        (r#"{"id":"","event":"a"}"#, Id),
        (r#"{"id":"a\n","event":"a"}"#, Id),
        (r#"{"data":{"id":"1"},"event":"a"}"#, Id),
        (&format!(r#"{{"id":"{long}","event":"a"}}"#), Id),
        (r#"{"id":"1"}"#, Type),
        (r#"{"id":"1","event":""}"#, Type),
        (
            r#"{"id":"1","event":"a","data":{"organization_id":""}}"#,
            Account,
        ),
        // An Action, under the same header.
        (
            r#"{"object":"user_registration_action_context","user_data":{}}"#,
            Id,
        ),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
