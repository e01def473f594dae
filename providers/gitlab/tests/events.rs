//! Identity, and what handlers get.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::Value;
use webhook_core::{DynProvider as _, EventId, InvalidEvent, KeyConfig, Keyring, Signing};
use webhook_gitlab::GitLab;
use webhook_vectors::{Receiver, Request, Seen};

const PUSH: &str = include_str!("../testdata/payloads/push.json");
const SECRET: &str = "whsec_wltYeW1zr/oq4g/LB+mCzvQc0yKyFnuMw3ATX7p1Zc8=";
const ID: &str = "704137ca-3486-4e3a-a52f-495bf001dea5";

fn receive(body: &str) -> Result<Seen, InvalidEvent> {
    let keys = Keyring::build(GitLab.spec().secret(), [KeyConfig::new(SECRET)]).unwrap();
    let signing = Signing::new(&keys, body.as_bytes(), 1_750_000_000).id(EventId::new(ID).unwrap());
    let signed = Request::new(GitLab.sign(&signing), body)
        // A forger's: neither is signed.
        .header("Idempotency-Key", "another")
        .header("X-Gitlab-Event", "Tag Push Hook");
    let receiver = Receiver::with_keys(&GitLab, keys, 1_750_000_000);
    receiver.accept(&signed).event()
}

#[test]
fn payloads_are_named() {
    let seen = receive(PUSH).unwrap();
    assert_eq!((&*seen.id, &*seen.event_type), (ID, "push"));
    assert_eq!((seen.account.as_deref(), seen.outside), (Some("15"), None));
    let whole: Value = serde_json::from_str(PUSH).unwrap();
    assert_eq!(seen.handled(&GitLab), Some(whole));
    assert_eq!(seen.headers.get("x-gitlab-event"), Some("Tag Push Hook"));
}

#[test]
fn events_of_groups_are_named_by_the_other_member() {
    let joined = receive(r#"{"event_name":"user_add_to_group","group_id":78}"#).unwrap();
    assert_eq!(
        (&*joined.event_type, joined.account),
        ("user_add_to_group", None)
    );
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Type};
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"object_kind":1}"#, Body),
        (r#"{"object_kind":"push","object_kind":"push"}"#, Body),
        (r#"{"object_kind":"push"}{}"#, Body),
        (r#"{"object_kind":"push","project":{"id":"15"}}"#, Body),
        (r#"{"object_kind":"push","project":{"id":-1}}"#, Body),
        ("{}", Type),
        (r#"{"object_kind":""}"#, Type),
        (r#"{"object_kind":"a\n"}"#, Type),
        (r#"{"project":{"object_kind":"push"}}"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
}
