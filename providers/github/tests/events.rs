//! Identity from unsigned headers and the signed body, as JSON and as a form.

use webhook_core::{InvalidEvent, Rejection};
use webhook_github::GitHub;
use webhook_vectors::{Receiver, Request, Seen};

const DELIVERY: &str = "72d3162e-cc78-11e3-81ab-4c9367dc0958";

/// Name, body and account of the payloads at hand.
const PAYLOADS: [(&str, &str, Option<&str>); 6] = [
    (
        "check_run",
        include_str!("../testdata/payloads/check_run.completed.json"),
        Some("55000001"), // an App's installation
    ),
    (
        "issues",
        include_str!("../testdata/payloads/issues.opened.json"),
        Some("80000001"), // the organisation
    ),
    (
        "ping",
        include_str!("../testdata/payloads/ping.json"),
        Some("80000001"), // the repository's owner, which is the organisation
    ),
    (
        "pull_request",
        include_str!("../testdata/payloads/pull_request.opened.json"),
        Some("80000001"),
    ),
    (
        "push",
        include_str!("../testdata/payloads/push.json"),
        Some("80000001"),
    ),
    (
        "push",
        include_str!("../testdata/payloads/push.large.json"),
        Some("80000001"),
    ),
];

fn receiver() -> Receiver<'static> {
    Receiver::new(&GitHub, &["It's a Secret to Everybody"], 1_750_000_000)
}

fn request(body: &[u8], headers: &[(&str, &str)]) -> Request {
    let signed = receiver().sign(body);
    headers.iter().fold(signed, |request, (name, value)| {
        request.header(name, *value)
    })
}

fn receive(body: impl AsRef<[u8]>, headers: &[(&str, &str)]) -> Result<Seen, InvalidEvent> {
    receiver().accept(&request(body.as_ref(), headers)).event()
}

fn named(event_type: &str, body: impl AsRef<[u8]>) -> Result<Seen, InvalidEvent> {
    let headers = [
        ("X-GitHub-Delivery", DELIVERY),
        ("X-GitHub-Event", event_type),
    ];
    receive(body, &headers)
}

fn form(json: &str) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("payload", json).finish()
}

#[test]
fn real_payloads_are_named() {
    for (event_type, body, account) in PAYLOADS {
        for encoded in [body.to_owned(), form(body)] {
            let seen = named(event_type, encoded).unwrap();
            assert_eq!(
                (seen.id.as_str(), &*seen.event_type),
                (DELIVERY, event_type)
            );
            assert_eq!(seen.account.as_deref(), account);
            assert_eq!(seen.payload, body, "a form's payload is its JSON");
        }
    }
}

#[test]
fn the_account_is_the_installation_the_organisation_or_the_owner() {
    for (members, account) in [
        (
            r#""installation":{"id":1},"organization":{"id":2}"#,
            Some("1"),
        ),
        (r#""installation":null,"organization":{"id":2}"#, Some("2")),
        (
            r#""organization":{"id":2},"repository":{"owner":{"id":3}}"#,
            Some("2"),
        ),
        (r#""repository":{"id":9,"owner":{"id":3}}"#, Some("3")),
        (r#""repository":{"id":9}"#, None),
        (r#""repository":{"id":9,"owner":null}"#, None),
        (r#""sender":{"id":9}"#, None),
    ] {
        let seen = named("a", format!("{{{members}}}")).unwrap();
        assert_eq!(seen.account.as_deref(), account, "{members}");
    }
}

#[test]
fn ids_and_types_follow_their_grammar() {
    let body = b"{}";
    let id = ("X-GitHub-Delivery", DELIVERY);
    let event_type = ("X-GitHub-Event", "push");
    let long = "a".repeat(65);
    assert!(receive(body, &[id, event_type]).is_ok());
    assert_eq!(receive(body, &[event_type]).unwrap_err(), InvalidEvent::Id);
    assert_eq!(receive(body, &[id]).unwrap_err(), InvalidEvent::Type);
    let twice = receive(body, &[id, event_type, ("x-github-delivery", DELIVERY)]);
    assert_eq!(twice.unwrap_err(), InvalidEvent::Id);
    let twice = receive(body, &[id, event_type, ("x-github-event", "push")]);
    assert_eq!(twice.unwrap_err(), InvalidEvent::Type);
    for bad in ["", " ", "a b", "a_b", "a/b", "é", "a\n", &long] {
        let came = receive(body, &[("X-GitHub-Delivery", bad), event_type]);
        assert_eq!(came.unwrap_err(), InvalidEvent::Id, "{bad:?}");
    }
    for bad in [
        "",
        " ",
        "Push",
        "pull-request",
        "push ",
        "issues.opened",
        "é",
        &long,
    ] {
        let came = receive(body, &[id, ("X-GitHub-Event", bad)]);
        assert_eq!(came.unwrap_err(), InvalidEvent::Type, "{bad:?}");
    }
}

#[test]
fn awkward_but_authentic_json_is_named() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for awkward in [
        r#""big":1e400"#,
        r#""lone":"\ud800","nul":"\u0000""#,
        r#""sender":{"installation":{"id":8}}"#,
        &format!(r#""deep":{deep}"#),
    ] {
        let json = format!("\r\n{{{awkward},\"installation\":{{\"id\":7}}}}\n");
        for body in [json.clone(), format!("\u{feff}{json}"), form(&json)] {
            assert_eq!(named("a", body).unwrap().account.as_deref(), Some("7"));
        }
    }
}

#[test]
fn what_is_no_object_is_no_event() {
    for body in [
        "",
        "Hello, World!",
        "null",
        "[]",
        r#"[{"id":1},null,null]"#,
        "{}{}",
        r#"{"installation":{"id":1},"installation":{"id":2}}"#,
        r#"{"installation":{"id":"1"}}"#,
        "payload",
        "payload=",
        "payload=%5B%5D",
        "payload=Hello",
        "payload=%7B%7D&payload=%7B%7D",
        "payload=%7B%7D&other=1",
        "other=1&payload=%7B%7D",
        "Payload=%7B%7D",
    ] {
        assert_eq!(
            named("push", body).unwrap_err(),
            InvalidEvent::Body,
            "{body}"
        );
    }
    assert_eq!(
        named("push", b"\xff\xfe\0").unwrap_err(),
        InvalidEvent::Body
    );
}

/// The content type is unsigned: who captured a body that holds another's text must not choose how it is read.
#[test]
fn json_never_passes_for_a_form() {
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let names = [
        ("X-GitHub-Delivery", DELIVERY),
        ("X-GitHub-Event", "issues"),
    ];
    let headers = [names[0], names[1], form];
    let body =
        r#"{"title":"x&payload=%7B%22installation%22%3A%7B%22id%22%3A666%7D%7D&y","issue":{}}"#;
    let seen = receive(body, &headers).unwrap();
    assert_eq!((seen.payload, seen.account), (body.into(), None));
    let trick = format!("title=x&{}", &body[12..]);
    assert_eq!(receive(trick, &headers).unwrap_err(), InvalidEvent::Body);
}

#[test]
fn the_legacy_header_is_not_read() {
    let mut request = request(b"{}", &[("X-Hub-Signature", "sha1=00")]);
    request.headers.remove(0);
    let refused = receiver().receive(&request).unwrap_err();
    assert!(matches!(refused, Rejection::Malformed(_)));
}

#[test]
fn hook_headers_are_kept_with_the_event() {
    let headers = [
        ("X-GitHub-Delivery", DELIVERY),
        ("X-GitHub-Event", "push"),
        ("X-GitHub-Hook-ID", "500000001"),
        ("X-GitHub-Hook-Installation-Target-ID", "700000001"),
        ("X-GitHub-Hook-Installation-Target-Type", "repository"),
        ("X-GitHub-Enterprise-Host", "ghe.example"),
    ];
    let kept = receive("{}", &headers).unwrap().headers;
    assert_eq!(kept.get("x-github-hook-id"), Some("500000001"));
    assert_eq!(
        kept.get("x-github-hook-installation-target-id"),
        Some("700000001")
    );
    assert_eq!(
        kept.get("x-github-hook-installation-target-type"),
        Some("repository")
    );
    assert_eq!(kept.get("x-github-enterprise-host"), None);
}

#[test]
fn only_listed_installations_are_inside() {
    let listed = GitHub.installations([55_000_001, 7]);
    let receiver = Receiver::new(&listed, &["It's a Secret to Everybody"], 1_750_000_000);
    let outside = |event_type: &str, body: &[u8]| {
        let headers = [
            ("X-GitHub-Delivery", DELIVERY),
            ("X-GitHub-Event", event_type),
        ];
        let seen = receiver.accept(&request(body, &headers)).event().unwrap();
        assert_eq!(seen.event_type, event_type);
        seen.outside
    };
    let other = Some("installation");
    for (event_type, body, account) in PAYLOADS {
        let expected = if account == Some("55000001") {
            None
        } else {
            other
        };
        assert_eq!(
            outside(event_type, body.as_bytes()),
            expected,
            "{event_type}"
        );
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("payload", body)
            .finish();
        assert_eq!(
            outside(event_type, form.as_bytes()),
            expected,
            "{event_type}"
        );
    }
    for (body, expected) in [
        (r#"{"installation":{"id":7}}"#, None),
        (r#"{"installation":{"id":70}}"#, other),
        (r#"{"installation":{}}"#, other),
        (r#"{"installation":null,"organization":{"id":7}}"#, other),
        (r#"{"repository":{"owner":{"id":7}}}"#, other),
        ("{}", other),
    ] {
        assert_eq!(outside("push", body.as_bytes()), expected, "{body}");
    }
    assert_eq!(named("push", "{}").unwrap().outside, None);
}
