//! Identity from unsigned headers and the signed body, and what corroborates it.

use serde_json::Value;
use webhook_bitbucket::Bitbucket;
use webhook_core::{DynProvider as _, InvalidEvent};
use webhook_vectors::{Receiver, Seen};

const PUSH: &str = include_str!("../testdata/payloads/repo.push.json");
const MERGED: &str = include_str!("../testdata/payloads/pullrequest.fulfilled.json");
const REQUEST: &str = "2b7c9a41-9d8e-4f9b-9a53-3a1a1d7d4c55";
const WORKSPACE: &str = "{90e6f4a1-7f0b-4d1e-a0b3-0a1f9b6f2c11}";

fn receive(body: &str, headers: &[(&str, &str)]) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&Bitbucket, &["It's a Secret to Everybody"], 1_750_000_000);
    let signed = receiver.sign(body);
    let request = headers.iter().fold(signed, |request, (name, value)| {
        request.header(name, *value)
    });
    receiver.accept(&request).event()
}

#[test]
fn payloads_are_named() {
    for (body, key) in [(PUSH, "repo:push"), (MERGED, "pullrequest:fulfilled")] {
        let headers = [
            ("X-Event-Key", key),
            ("X-Request-UUID", REQUEST),
            ("X-Hook-UUID", "5e4b6a0e"),
            ("X-Attempt-Number", "2"),
        ];
        let seen = receive(body, &headers).unwrap();
        assert_eq!((seen.id.as_str(), seen.event_type.as_str()), (REQUEST, key));
        assert_eq!(
            (seen.account.as_deref(), seen.outside),
            (Some(WORKSPACE), None)
        );
        let whole: Value = serde_json::from_str(body).unwrap();
        assert_eq!(seen.handled(&Bitbucket), Some(whole));
        assert_eq!(seen.headers.get("x-hook-uuid"), Some("5e4b6a0e"));
        assert_eq!(seen.headers.get("x-attempt-number"), Some("2"));
        assert!(Bitbucket.corroborates(key, body.as_bytes()));
    }
    assert!(!Bitbucket.signs_identity());
}

#[test]
fn the_account_is_the_body_s() {
    let account = |body: &str| {
        let headers = [("X-Event-Key", "a"), ("X-Request-UUID", "1")];
        receive(body, &headers).map(|seen| seen.account)
    };
    for (body, expected) in [
        ("{}", None),
        (r#"{"repository":null}"#, None),
        (r#"{"repository":{"uuid":"r"}}"#, None),
        (r#"{"repository":{"owner":{"uuid":"o"}}}"#, Some("o")),
        (
            r#"{"repository":{"owner":{"uuid":"o"},"workspace":{"uuid":"w"}}}"#,
            Some("w"),
        ),
        (
            r#"{"repository":{"owner":{"uuid":"o"},"workspace":{}}}"#,
            Some("o"),
        ),
        (r#"{"workspace":{"uuid":"w"}}"#, None),
    ] {
        assert_eq!(account(body).unwrap().as_deref(), expected, "{body}");
    }
    let empty = r#"{"repository":{"owner":{"uuid":""}}}"#;
    assert_eq!(account(empty), Err(InvalidEvent::Account));
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let (key, id) = (("X-Event-Key", "repo:push"), ("X-Request-UUID", REQUEST));
    for (body, headers, why) in [
        ("", vec![key, id], Body),
        ("[]", vec![key, id], Body),
        ("Hello World!", vec![key, id], Body),
        ("{}{}", vec![key, id], Body),
        (r#"{"repository":"acme/site"}"#, vec![key, id], Body),
        (
            r#"{"repository":{"owner":{"uuid":1}}}"#,
            vec![key, id],
            Body,
        ),
        ("{}", vec![key], Id),
        ("{}", vec![key, id, id], Id),
        ("{}", vec![key, ("X-Request-UUID", "")], Id),
        ("{}", vec![key, ("X-Request-UUID", "é")], Id),
        // Data Center's name.
        ("{}", vec![key, ("X-Request-Id", REQUEST)], Id),
        ("{}", vec![id], Type),
        ("{}", vec![key, key, id], Type),
        ("{}", vec![id, ("X-Event-Key", "")], Type),
    ] {
        assert_eq!(
            receive(body, &headers).unwrap_err(),
            why,
            "{body} {headers:?}"
        );
    }
}

/// Event key, and a body that is one.
const EXAMPLES: [(&str, &str); 12] = [
    ("issue:comment_created", r#"{"issue":{},"comment":{}}"#),
    ("issue:created", r#"{"issue":{}}"#),
    (
        "pullrequest:approved",
        r#"{"pullrequest":{},"approval":{}}"#,
    ),
    (
        "pullrequest:changes_request_created",
        r#"{"pullrequest":{},"changes_request":{}}"#,
    ),
    (
        "pullrequest:comment_created",
        r#"{"pullrequest":{},"comment":{}}"#,
    ),
    (
        "pullrequest:fulfilled",
        r#"{"pullrequest":{"state":"MERGED"}}"#,
    ),
    (
        "pullrequest:rejected",
        r#"{"pullrequest":{"state":"DECLINED"}}"#,
    ),
    (
        "repo:commit_comment_created",
        r#"{"commit":{},"comment":{}}"#,
    ),
    ("repo:commit_status_created", r#"{"commit_status":{}}"#),
    ("repo:fork", r#"{"fork":{}}"#),
    ("repo:push", r#"{"push":{}}"#),
    ("pullrequest:created", r#"{"pullrequest":{"state":"OPEN"}}"#),
];

#[test]
fn a_body_goes_by_its_own_name_alone() {
    for (key, _) in EXAMPLES {
        for (other, body) in EXAMPLES {
            // What was merged or declined was once created: its members do not say which of them this is.
            let alike = key == "pullrequest:created"
                && ["pullrequest:fulfilled", "pullrequest:rejected"].contains(&other);
            assert_eq!(
                Bitbucket.corroborates(key, body.as_bytes()),
                key == other || alike,
                "{body} under {key}"
            );
        }
    }
}

#[test]
fn a_pull_request_that_was_not_merged_never_passes_for_one() {
    for body in [
        r#"{"pullrequest":{"state":"OPEN"}}"#,
        r#"{"pullrequest":{"state":"DECLINED"}}"#,
        r#"{"pullrequest":{"state":"merged"}}"#,
        r#"{"pullrequest":{"state":null}}"#,
        r#"{"pullrequest":{}}"#,
        r#"{"pullrequest":null}"#,
        r#"{"state":"MERGED","pullrequest":{}}"#,
        r#"{"pullrequest":{"state":"MERGED"},"comment":{}}"#,
        "[]",
        "",
    ] {
        assert!(
            !Bitbucket.corroborates("pullrequest:fulfilled", body.as_bytes()),
            "{body}"
        );
    }
}

#[test]
fn unknown_keys_are_taken_at_their_word() {
    assert!(Bitbucket.corroborates("repo:of_tomorrow", PUSH.as_bytes()));
}
