//! Identity, what handlers get, and the challenge.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::Value;
use webhook_core::{DynProvider as _, Head, InvalidEvent};
use webhook_dropbox::Dropbox;
use webhook_vectors::{Receiver, Seen};

const CHANGED: &str = include_str!("../testdata/payloads/list_folder.json");

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&Dropbox, &["p8w4f2m6q1z9x3k"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

/// The second change of an account is another event, and its body the first one's.
#[test]
fn equal_bodies_are_different_events() {
    let [first, second] = [CHANGED, CHANGED].map(|body| receive(body).unwrap());
    assert_ne!(first.id, second.id);
    assert_eq!((&*first.event_type, first.account), ("list_folder", None));
    let whole: Value = serde_json::from_str(CHANGED).unwrap();
    assert_eq!(second.handled(&Dropbox), Some(whole));
    // Its endpoints must say what a repeat is.
    assert!(Dropbox.spec().may_repeat("list_folder") && !Dropbox.signs_identity());
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Type};
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        ("challenge=abc", Body),
        (r#"{"list_folder":{},"list_folder":{}}"#, Body),
        (r#"{"list_folder":{}}{}"#, Body),
        ("{}", Type),
        (r#"{"list_folder":null}"#, Type),
        (r#"{"delta":{"list_folder":{}}}"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
}

#[test]
fn a_challenge_comes_back_if_it_can_mean_nothing() {
    let greet = |target: &str| {
        let head = Head::new("GET", target, []).unwrap();
        Dropbox.greet(&head).map(|answer| {
            assert_eq!(answer.content_type, "text/plain; charset=utf-8");
            String::from_utf8(answer.body.to_vec()).unwrap()
        })
    };
    let longest = "x".repeat(256);
    for challenge in ["JFRrJyOzrU-XW_1.~", "0", &longest] {
        let target = format!("/dropbox?challenge={challenge}");
        assert_eq!(greet(&target).as_deref(), Some(challenge));
    }
    assert_eq!(greet("/dropbox?a=1&challenge=%61b").as_deref(), Some("ab"));
    for target in [
        "/dropbox",
        "/dropbox?",
        "/dropbox?challenge",
        "/dropbox?challenge=",
        "/dropbox?Challenge=a",
        "/dropbox?challenge=a&challenge=a",
        "/dropbox?challenge=a&%63hallenge=b",
        "/dropbox?challenge=%3Cscript%3E",
        "/dropbox?challenge=a+b",
        "/dropbox?challenge=a%0D%0Ab",
        "/dropbox?challenge=%C3%A4",
        "/dropbox?challenge=%",
        &format!("/dropbox?challenge={longest}x"),
    ] {
        assert_eq!(greet(target), None, "{target}");
    }
}
