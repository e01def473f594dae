//! Identity from an unsigned header and the signed body, and the time in it.

use serde_json::Value;
use webhook_core::{DynProvider as _, InvalidEvent, Malformed, Rejection};
use webhook_linear::Linear;
use webhook_vectors::{Received, Receiver, Seen};

const CREATED: &str = include_str!("../testdata/payloads/Issue.create.json");
const DELIVERY: (&str, &str) = ("Linear-Delivery", "70f1e4e2-31e8-45f6-a35e-6254e47d0669");

fn receive(body: &str, headers: &[(&str, &str)]) -> Result<Received, Rejection> {
    let receiver = Receiver::new(&Linear, &["lin_wh_0123456789abcdef"], 1_750_000_000);
    let signed = receiver.sign(body);
    let request = headers.iter().fold(signed, |request, (name, value)| {
        request.header(name, *value)
    });
    receiver.receive(&request)
}

/// A body of now, with these members more.
fn now(members: &str) -> String {
    format!(r#"{{"webhookTimestamp":1750000000000{members}}}"#)
}

#[test]
fn payloads_are_named() {
    // A forger's type: it is not signed.
    let headers = [DELIVERY, ("Linear-Event", "Comment")];
    let seen: Seen = receive(CREATED, &headers).unwrap().event().unwrap();
    assert_eq!((&*seen.id, &*seen.event_type), (DELIVERY.1, "Issue"));
    let account = Some("ddbf3128-2f3c-4c37-ac72-193f9ad42f52");
    assert_eq!((seen.account.as_deref(), seen.outside), (account, None));
    let whole: Value = serde_json::from_str(CREATED).unwrap();
    assert_eq!(seen.handled(&Linear), Some(whole));
    assert!(!Linear.signs_identity());
}

#[test]
fn time_is_read_from_the_signed_body_alone() {
    let headers = [DELIVERY, ("Linear-Timestamp", "1750000000000")];
    let stale = r#"{"type":"Issue","webhookTimestamp":1749999939999}"#;
    assert_eq!(
        receive(stale, &headers).unwrap_err(),
        Rejection::Stale {
            by_secs: 61,
            authentic: true
        }
    );
    for body in [
        r#"{"type":"Issue"}"#,
        r#"{"type":"Issue","data":{"webhookTimestamp":1750000000000}}"#,
        r#"{"webhookTimestamp":1750000000000,"webhookTimestamp":1750000000000}"#,
        r#"{"webhookTimestamp":1.75e12}"#,
        r#"{"webhookTimestamp":1750000000000}{}"#,
        "[1750000000000]",
        "",
    ] {
        assert_eq!(
            receive(body, &headers).unwrap_err(),
            Rejection::Malformed(Malformed::Timestamp),
            "{body}"
        );
    }
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Id, Type};
    let issue = r#","type":"Issue""#;
    for (members, headers, why) in [
        (r#","type":1"#, vec![DELIVERY], Body),
        (r#","type":"a","type":"a""#, vec![DELIVERY], Body),
        (r#","type":"a","organizationId":1"#, vec![DELIVERY], Body),
        (issue, vec![], Id),
        (issue, vec![DELIVERY, DELIVERY], Id),
        (issue, vec![("Linear-Delivery", "")], Id),
        (issue, vec![("Linear-Delivery", "é")], Id),
        (r#","id":"1","type":"Issue""#, vec![], Id),
        ("", vec![DELIVERY], Type),
        (r#","type":"""#, vec![DELIVERY], Type),
        ("", vec![DELIVERY, ("Linear-Event", "Issue")], Type),
        (
            r#","type":"Issue","organizationId":"""#,
            vec![DELIVERY],
            Account,
        ),
    ] {
        let received = receive(&now(members), &headers).unwrap();
        assert_eq!(received.event().unwrap_err(), why, "{members} {headers:?}");
    }
    let unowned = receive(&now(issue), &[DELIVERY]).unwrap();
    assert_eq!(unowned.event().unwrap().account, None);
}
