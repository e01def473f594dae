//! Identity and handshakes, read from signed JSON and forms.

use serde_json::{Value, json};
use webhook_core::bounds::MAX_CHALLENGE_BYTES;
use webhook_core::{Handshake, InvalidEvent, Rejection};
use webhook_slack::Slack;
use webhook_vectors::{Received, Receiver, Request, Seen};

const COMMAND: &str = include_str!("../testdata/payloads/slash_command.form");
const ACTIONS: &str = include_str!("../testdata/payloads/block_actions.form");
const RATE_LIMITED: &str = include_str!("../testdata/payloads/app_rate_limited.json");

fn receiver() -> Receiver<'static> {
    Receiver::new(&Slack, &["8f742231b10e8888abcd99yyyzzz85a5"], 1_750_000_000)
}

fn received(body: impl Into<Vec<u8>>) -> Received {
    receiver().accept(&receiver().sign(body))
}

fn receive(body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    received(body).event()
}

fn handshake(body: impl Into<Vec<u8>>) -> Result<Option<Handshake>, InvalidEvent> {
    received(body).handshake
}

fn interaction(json: &str) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("payload", json).finish()
}

#[test]
fn real_payloads_are_named() {
    let team = Some("T070ULYC5VE");
    for (body, event_type, id, account) in [
        (
            include_str!("../testdata/payloads/event_callback.app_mention.json"),
            "app_mention",
            "Ev01K7QCBN73",
            team,
        ),
        (
            include_str!("../testdata/payloads/event_callback.message.json"),
            "message",
            "Ev08C9TNSVDA",
            team,
        ),
        (
            RATE_LIMITED,
            "app_rate_limited",
            "app_rate_limited:A0I3WHPC8GE:1750000020",
            team,
        ),
        (
            COMMAND,
            "slash_command",
            "398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
            team,
        ),
        (
            ACTIONS,
            "block_actions",
            "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
            team,
        ),
        (
            include_str!("../testdata/payloads/view_submission.form"),
            "view_submission",
            "12466734323.1395872398.5f0a0e3d9b6c",
            Some("E0ACMEGRID"), // installed for the organisation: there is no team
        ),
        (
            include_str!("../testdata/payloads/view_closed.form"),
            "view_closed",
            "V0PKB1ZFV5",
            team,
        ),
    ] {
        let received = received(body);
        assert_eq!(received.handshake, Ok(None));
        let seen = received.event().unwrap();
        assert_eq!(
            (seen.event_type.as_str(), seen.id.as_str()),
            (event_type, id)
        );
        assert_eq!(seen.account.as_deref(), account);
        assert_eq!(seen.outside, None);
        assert!(seen.handled(&Slack).unwrap().is_object());
    }
}

#[test]
fn an_event_is_stored_as_it_was_sent() {
    let body = include_str!("../testdata/payloads/event_callback.message.json");
    let seen = receive(body).unwrap();
    assert_eq!(seen.payload, body);
    let text = seen.handled(&Slack).unwrap()["text"].clone();
    assert_eq!(text, "Größe: 3 < 4 — ok?");
}

#[test]
fn forms_become_json_under_event() {
    let handled = |body: &str| receive(body).unwrap().handled(&Slack).unwrap();
    let command = handled(COMMAND);
    assert_eq!(command["command"], "/deploy");
    assert_eq!(command["text"], "widgets to prod & now + 1%");
    assert_eq!(command["user_name"], "zoë");
    assert_eq!(
        command.as_object().unwrap().len(),
        COMMAND.split('&').count()
    );
    let actions = handled(ACTIONS);
    assert_eq!(actions["actions"][0]["value"], "a&b=c 100% 🚀");
    let limited = handled(RATE_LIMITED);
    assert_eq!(limited["minute_rate_limited"], 1_750_000_020);
    // An interaction's JSON is kept to the byte.
    let seen = receive(interaction(
        r#"{"type":"shortcut" ,"trigger_id":"1.2","x":1e400}"#,
    ))
    .unwrap();
    let stored = r#"{"event":{"type":"shortcut" ,"trigger_id":"1.2","x":1e400}}"#;
    assert_eq!(seen.payload, stored);
}

#[test]
fn equal_forms_become_equal_payloads() {
    let one = receive("command=%2Fa&trigger_id=1.2&text=x+y").unwrap();
    let other = receive("trigger_id=1.2&text=x%20y&command=/a").unwrap();
    assert_eq!(one.payload, other.payload);
    let expected: Value = json!({"event": {"command": "/a", "text": "x y", "trigger_id": "1.2"}});
    assert_eq!(
        serde_json::from_slice::<Value>(&one.payload).unwrap(),
        expected
    );
}

#[test]
fn accounts_fall_back_to_the_enterprise() {
    let account = |body: &str| receive(body).unwrap().account;
    let command = |fields: &str| account(&format!("command=%2Fa&trigger_id=1{fields}"));
    assert_eq!(
        command("&team_id=T1&enterprise_id=E1").as_deref(),
        Some("T1")
    );
    assert_eq!(command("&team_id=&enterprise_id=E1").as_deref(), Some("E1"));
    assert_eq!(command(""), None);
    let event = |members: &str| {
        account(&format!(
            r#"{{"event_id":"Ev1","event":{{"type":"a"}}{members}}}"#
        ))
    };
    assert_eq!(event(r#","team_id":"T1""#).as_deref(), Some("T1"));
    assert_eq!(
        event(r#","team_id":null,"enterprise_id":"E1""#).as_deref(),
        Some("E1")
    );
    assert_eq!(event(""), None);
}

#[test]
fn awkward_but_authentic_json_is_named() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for awkward in [
        r#""big":1e400"#,
        r#""lone":"\ud800","nul":"\u0000""#,
        r#""authorizations":[{"team_id":"T2","event_id":"Ev2"}]"#,
        &format!(r#""deep":{deep}"#),
    ] {
        let json = format!(
            "{{{awkward},\"event_id\":\"Ev\\u0031\",\"event\":{{{awkward},\"type\":\"a\"}}}}"
        );
        for body in [json.clone(), format!("\u{feff}\r\n{json}\n")] {
            let seen = receive(body).unwrap();
            assert_eq!((seen.id.as_str(), seen.event_type.as_str()), ("Ev1", "a"));
        }
        let json = format!("{{{awkward},\"trigger_id\":\"1.2\",\"type\":\"a\"}}");
        assert_eq!(receive(interaction(&json)).unwrap().id, "1.2");
    }
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    for (body, why) in [
        ("", Body),
        ("Hello, World!", Body),
        ("null", Body),
        (r#"[["a"],"Ev1"]"#, Body),
        (
            r#"{"event_id":"Ev1","event_id":"Ev1","event":{"type":"a"}}"#,
            Body,
        ),
        (r#"{"event_id":1,"event":{"type":"a"}}"#, Body),
        (r#"{"type":"event_callback","event":{"type":"a"}}"#, Id),
        (r#"{"event_id":"","event":{"type":"a"}}"#, Id),
        (r#"{"type":"app_rate_limited","team_id":"T1"}"#, Id),
        (r#"{"type":"url_verification","challenge":"x"}"#, Id),
        (r#"{"type":"something_new"}"#, Id),
        (r#"{"event_id":"Ev1"}"#, Type),
        (r#"{"event_id":"Ev1","event":{}}"#, Type),
        ("command=%2Fa", Id),
        ("command=%2Fa&trigger_id=", Id),
        ("command=%2Fa&trigger_id=1%0A2", Id),
        ("trigger_id=1.2", Body),
        ("command=%2Fa&trigger_id=1.2&trigger_id=1.3", Body),
        ("command=%2Fa&trigger_id=1.2&payload=%7B%7D", Body),
        ("payload=%7B%7D&payload=%7B%7D", Body),
        ("payload=", Body),
        ("payload=%5B%5D", Body),
        ("ssl_check=1&token=x", Body),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
    for (json, why) in [
        (r#"{"type":"block_suggestion","value":"x"}"#, Id),
        (r#"{"type":"view_submission","view":{"id":"V1"}}"#, Id),
        (r#"{"type":"view_closed"}"#, Id),
        (r#"{"type":"view_closed","view":{}}"#, Id),
        (r#"{"trigger_id":"1.2"}"#, Type),
        (
            r#"{"trigger_id":"1.2","trigger_id":"1.2","type":"a"}"#,
            Body,
        ),
        (r#"{"trigger_id":"1.2","type":"a"}{}"#, Body),
    ] {
        assert_eq!(receive(interaction(json)).unwrap_err(), why, "{json}");
    }
}

/// The content type is unsigned: JSON that holds another's text is not read as a form for its sake.
#[test]
fn json_never_passes_for_a_form() {
    let text = "&command=%2Fa&trigger_id=1.2&";
    let body = json!({"event_id": "Ev1", "event": {"type": "message", "text": text}}).to_string();
    let form = "application/x-www-form-urlencoded";
    let request = receiver().sign(body).header("Content-Type", form);
    let seen = receiver().receive(&request).unwrap().event().unwrap();
    assert_eq!(
        (seen.event_type.as_str(), seen.id.as_str()),
        ("message", "Ev1")
    );
}

#[test]
fn a_signed_challenge_is_echoed_as_plain_text() {
    let plain = |text: &str| Ok(Some(Handshake::plain(text.to_owned())));
    let body = include_str!("../testdata/payloads/url_verification.json");
    let challenge = "vSX8edz06pGR3FofbDMlTM10fY99Js2XOoSfgU5kwQVnQ1afParJ";
    assert_eq!(handshake(body), plain(challenge));
    let asks = |challenge: Value| json!({"type": "url_verification", "challenge": challenge});
    let answer = |challenge: Value| handshake(asks(challenge).to_string());
    let script = "<script>alert(1)</script> ünï";
    assert_eq!(answer(json!(script)), plain(script));
    let longest = "x".repeat(MAX_CHALLENGE_BYTES);
    assert_eq!(answer(json!(longest)), plain(&longest));
    for bad in [
        json!(""),
        json!(null),
        json!(7),
        json!("a\nb"),
        json!("a\u{0}"),
        json!("a\u{85}"),
        json!("x".repeat(MAX_CHALLENGE_BYTES + 1)),
        json!("x".repeat(100 * 1024)),
    ] {
        assert_eq!(answer(bad), Err(InvalidEvent::Body));
    }
    let unasked = r#"{"type":"event_callback","event_id":"Ev1","challenge":"x"}"#;
    assert_eq!(handshake(unasked), Ok(None));
}

#[test]
fn an_unsigned_challenge_is_refused() {
    let body = include_str!("../testdata/payloads/url_verification.json");
    let unsigned = Request::new([("Content-Type", "application/json")], body);
    let refused = receiver().receive(&unsigned).unwrap_err();
    assert!(matches!(refused, Rejection::Malformed(_)));
    let mut forged = receiver().sign(body);
    forged.body.push(b' ');
    let refused = receiver().receive(&forged).unwrap_err();
    assert_eq!(refused, Rejection::SignatureMismatch);
}

#[test]
fn a_check_of_the_certificate_is_answered_with_nothing() {
    assert_eq!(
        handshake("token=x&ssl_check=1"),
        Ok(Some(Handshake::plain("")))
    );
    assert_eq!(handshake(COMMAND), Ok(None));
}

#[test]
fn retry_headers_are_kept_with_the_event() {
    let body = include_str!("../testdata/payloads/event_callback.message.json");
    let request = receiver()
        .sign(body)
        .header("X-Slack-Retry-Num", "2")
        .header("X-Slack-Retry-Reason", "http_timeout");
    let kept = receiver()
        .receive(&request)
        .unwrap()
        .event()
        .unwrap()
        .headers;
    assert_eq!(kept.get("x-slack-retry-num"), Some("2"));
    assert_eq!(kept.get("x-slack-retry-reason"), Some("http_timeout"));
}

#[test]
fn only_listed_workspaces_are_inside() {
    let outside = |wanted: Slack, body: &str| {
        let receiver = Receiver::new(
            &wanted,
            &["8f742231b10e8888abcd99yyyzzz85a5"],
            1_750_000_000,
        );
        receiver
            .accept(&receiver.sign(body))
            .event()
            .unwrap()
            .outside
    };
    let (ours, other) = (
        Slack.workspaces(["T070ULYC5VE"]),
        Slack.workspaces(["T1", "E1"]),
    );
    let submission = include_str!("../testdata/payloads/view_submission.form");
    let message = include_str!("../testdata/payloads/event_callback.message.json");
    for body in [message, COMMAND, ACTIONS, RATE_LIMITED] {
        assert_eq!(outside(ours, body), None, "{body}");
        assert_eq!(outside(other, body), Some("workspace"), "{body}");
        assert_eq!(outside(Slack, body), None, "{body}");
    }
    // Of an organisation, without a workspace.
    assert_eq!(outside(ours, submission), Some("workspace"));
    assert_eq!(outside(Slack.workspaces(["E0ACMEGRID"]), submission), None);
    let event = |team: Value, enterprise: Value| {
        json!({"type": "event_callback", "event_id": "Ev1", "event": {"type": "message"},
               "team_id": team, "enterprise_id": enterprise})
        .to_string()
    };
    for (body, expected) in [
        (event("T1".into(), Value::Null), None),
        (event("T9".into(), "E1".into()), None),
        (event("T9".into(), "E9".into()), Some("workspace")),
        (event("T1 ".into(), Value::Null), Some("workspace")),
        (event("".into(), "".into()), Some("workspace")),
        (event(Value::Null, Value::Null), Some("workspace")),
    ] {
        assert_eq!(outside(other, &body), expected, "{body}");
    }
    assert_eq!(
        outside(Slack.workspaces([""]), &event("".into(), Value::Null)),
        Some("workspace")
    );
}

#[test]
fn handshakes_are_answered_whatever_the_workspace() {
    let nobody = Slack.workspaces(["T1"]);
    let receiver = Receiver::new(
        &nobody,
        &["8f742231b10e8888abcd99yyyzzz85a5"],
        1_750_000_000,
    );
    let check = include_str!("../testdata/payloads/url_verification.json");
    let handshake = receiver.accept(&receiver.sign(check)).handshake;
    assert!(handshake.unwrap().is_some());
}
