//! Identity, what handlers get, and where confirmations may lead.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::{Value, json};
use webhook_core::InvalidEvent;
use webhook_sns::Sns;
use webhook_vectors::{Receiver, Request, Seen};

const TOPIC: &str = "arn:aws:sns:eu-west-1:123456789012:orders";

/// The event of a vector.
fn vector(name: &str) -> Seen {
    let vectors = include_str!("../testdata/vectors.json");
    let vectors: Vec<Value> = serde_json::from_str(vectors).unwrap();
    let case = vectors.iter().find(|case| case["name"] == name).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let sns = Sns::of([TOPIC]);
    let receiver = Receiver::new(
        &sns,
        &[&text(case.pointer("/public_keys/0").unwrap())],
        1_750_000_000,
    );
    let request = Request::new([("content-type", "text/plain")], text(&case["body_utf8"]));
    receiver.accept(&request).event().unwrap()
}

#[test]
fn handlers_get_what_is_signed_and_nothing_else() {
    let seen = vector("unsigned members changed");
    assert_eq!(
        (&*seen.event_type, seen.account.as_deref()),
        ("Notification", Some(TOPIC))
    );
    let signed = json!({
        "Type": "Notification",
        "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
        "TopicArn": TOPIC,
        "Message": "{\"order\":7,\"name\":\"Zoë\"}\nline",
        "Timestamp": "2025-06-15T15:06:40.000Z",
    });
    assert_eq!(seen.handled(&Sns::of([TOPIC])), Some(signed));
    assert_eq!(
        (&*seen.id, seen.outside),
        ("22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", None)
    );
}

#[test]
fn a_confirmation_is_an_event_with_its_signed_url() {
    let seen = vector("confirmation");
    let payload = seen.handled(&Sns::of([TOPIC])).unwrap();
    assert_eq!(seen.event_type, "SubscriptionConfirmation");
    assert!(Sns::is_subscribe_url(
        payload["SubscribeURL"].as_str().unwrap()
    ));
}

#[test]
fn other_topics_are_outside() {
    let private = include_str!("../testdata/private.b64").trim();
    let other = Sns::of(["arn:aws:sns:eu-west-1:123456789012:others"]);
    let signed = Receiver::new(&other, &[private], 1_750_000_000).sign("1");
    for (topics, outside) in [
        (vec![TOPIC], Some("topic")),
        (vec![], Some("topic")),
        (
            vec![TOPIC, "arn:aws:sns:eu-west-1:123456789012:others"],
            None,
        ),
    ] {
        let sns = Sns::of(topics);
        let receiver = Receiver::new(&sns, &[private], 1_750_000_000);
        let seen: Result<Seen, InvalidEvent> = receiver.accept(&signed).event();
        assert_eq!(seen.unwrap().outside, outside);
    }
}

#[test]
fn only_urls_of_sns_confirm() {
    for good in [
        "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=1",
        "https://sns.cn-north-1.amazonaws.com.cn/?Action=ConfirmSubscription",
    ] {
        assert!(Sns::is_subscribe_url(good), "{good}");
    }
    for bad in [
        "",
        "http://sns.eu-west-1.amazonaws.com/?a",
        "https://sns.eu-west-1.amazonaws.com",
        "https://sns.eu-west-1.amazonaws.com/a",
        "https://sns.eu-west-1.amazonaws.com:8443/?a",
        "https://sns.eu-west-1.amazonaws.com@evil.example/?a",
        "https://sns.eu-west-1.amazonaws.com.evil.example/?a",
        "https://sns.evil.example/?.amazonaws.com/?a",
        "https://sns.amazonaws.com/?a",
        "https://sns..amazonaws.com/?a",
        "https://sns.a/b.amazonaws.com/?a",
        "https://user@sns.eu-west-1.amazonaws.com/?a",
        "https://sns.eu-west-1.amazonaws.com/?a b",
        "https://sns.eu-west-1.amazonaws.com/?a\n",
    ] {
        assert!(!Sns::is_subscribe_url(bad), "{bad}");
    }
}

#[test]
fn only_urls_of_sns_are_certificates() {
    for good in [
        "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem",
        "https://sns.cn-north-1.amazonaws.com.cn/a.pem",
    ] {
        assert!(Sns::is_certificate_url(good), "{good}");
    }
    for bad in [
        "",
        "https://sns.eu-west-1.amazonaws.com/.pem",
        "https://sns.s3.amazonaws.com/x.pem",
        "https://sns.s3-us-west-2.amazonaws.com/x.pem",
        "https://sns.s3-website-us-west-2.amazonaws.com/x.pem",
        "https://sns.eu-1.amazonaws.com/x.pem",
        "https://sns.eu--1.amazonaws.com/x.pem",
        "https://sns.eu-west-.amazonaws.com/x.pem",
        "https://sns.eu-west-123.amazonaws.com/x.pem",
        "https://sns.eu-west-1.amazonaws.com/a",
        "https://sns.eu-west-1.amazonaws.com/a/b.pem",
        "https://sns.eu-west-1.amazonaws.com/a.pem?b",
        "https://sns.eu-west-1.amazonaws.com/?a=/b.pem",
        "https://sns.eu-west-1.amazonaws.com/../a.pem",
        "https://sns.eu-west-1.amazonaws.com/%2e.pem",
        "https://sns.eu-west-1.amazonaws.com:444/a.pem",
        "https://sns.eu-west-1.amazonaws.com@evil.example/a.pem",
        "https://sns.eu-west-1.amazonaws.com.evil.example/a.pem",
        "https://evil.example/a.pem",
        "http://sns.eu-west-1.amazonaws.com/a.pem",
    ] {
        assert!(!Sns::is_certificate_url(bad), "{bad}");
    }
}
