//! Identity and scope, read from signed bodies.

use webhook_core::{DynProvider, InvalidEvent, canonical_digest};
use webhook_stripe::Stripe;
use webhook_vectors::{Receiver, Seen};

const ANY: Stripe = Stripe::any_mode().any_account();

fn receive(provider: Stripe, body: impl Into<Vec<u8>>) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&provider, &["whsec_0123456789abcdef01"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn real_payloads_are_named() {
    let connected = Some("acct_1s4eRy9wQsnHaux3");
    for (body, id, event_type, account, object) in [
        (
            include_str!("../testdata/payloads/checkout.session.completed.json"),
            "evt_1UblshY3j59n7pxZl6vW6dJZ",
            "checkout.session.completed",
            None,
            Some("checkout.session"),
        ),
        (
            include_str!("../testdata/payloads/connect.payment_intent.succeeded.json"),
            "evt_3um4m5Syc80OLqHule4c9RCt",
            "payment_intent.succeeded",
            connected,
            Some("payment_intent"),
        ),
        (
            include_str!("../testdata/payloads/invoice.paid.json"),
            "evt_1hNUdKirlsl2wtlT1XCHK5I9",
            "invoice.paid",
            None,
            Some("invoice"),
        ),
        (
            include_str!("../testdata/payloads/payment_intent.succeeded.json"),
            "evt_3naurb4vTAvHDkoTDvRjVYrj",
            "payment_intent.succeeded",
            None,
            Some("payment_intent"),
        ),
        (
            include_str!("../testdata/payloads/thin.v1.billing.meter.error_report_triggered.json"),
            "evt_test_65X8yRsXlM454vFkCtfhWvtLUSSJbi",
            "v1.billing.meter.error_report_triggered",
            connected,
            None, // a thin event's handler takes the raw event
        ),
    ] {
        let seen = receive(ANY, body).unwrap();
        assert_eq!(
            (seen.id.as_str(), seen.event_type.as_str()),
            (id, event_type)
        );
        assert_eq!(seen.account.as_deref(), account);
        assert_eq!(seen.outside, None);
        assert_eq!(seen.payload, body);
        let handled = seen.handled(&ANY);
        let kind = handled.as_ref().and_then(|value| value["object"].as_str());
        assert_eq!(kind, object);
    }
}

#[test]
fn only_the_wanted_mode_and_kind_of_account_is_inside() {
    let body = |livemode: &str, account: &str| {
        format!(r#"{{"id":"evt_1","type":"a"{livemode}{account}}}"#)
    };
    let (live, test, silent) = (r#","livemode":true"#, r#","livemode":false"#, "");
    let (own, connected) = ("", r#","account":"acct_1""#);
    let (mode, account) = (Some("mode"), Some("account"));
    for (provider, expected) in [
        (Stripe::live(), [None, mode, mode, account, mode]),
        (Stripe::test(), [mode, None, mode, mode, account]),
        (Stripe::any_mode(), [None, None, None, account, account]),
        (
            Stripe::live().connected_accounts(),
            [account, mode, mode, None, mode],
        ),
        (Stripe::live().any_account(), [None, mode, mode, None, mode]),
        (Stripe::test().any_account(), [mode, None, mode, mode, None]),
        (
            Stripe::any_mode().connected_accounts(),
            [account, account, account, None, None],
        ),
        (ANY, [None; 5]),
    ] {
        let came = [
            (live, own),
            (test, own),
            (silent, own),
            (live, connected),
            (test, connected),
        ]
        .map(|(mode, account)| receive(provider, body(mode, account)).unwrap().outside);
        assert_eq!(came, expected, "{provider:?}");
    }
}

#[test]
fn only_listed_accounts_are_inside() {
    let body = |account: &str| {
        format!(r#"{{"id":"evt_1","type":"a","livemode":true,"account":{account}}}"#)
    };
    let listed = Stripe::live().accounts(["acct_1", "acct_2"]);
    for (account, outside) in [
        (r#""acct_1""#, None),
        (r#""acct_2""#, None),
        (r#""acct_3""#, Some("account")),
        (r#""acct_""#, Some("account")),
        (r#""acct_1 ""#, Some("account")),
        ("null", Some("account")),
    ] {
        assert_eq!(
            receive(listed, body(account)).unwrap().outside,
            outside,
            "{account}"
        );
    }
    let none = Stripe::live().accounts(Vec::<String>::new());
    assert_eq!(
        receive(none, body(r#""acct_1""#)).unwrap().outside,
        Some("account")
    );
    for (later, account) in [
        (listed.any_account(), "null"),
        (listed.connected_accounts(), r#""acct_3""#),
    ] {
        assert_eq!(
            receive(later, body(account)).unwrap().outside,
            None,
            "{later:?}"
        );
    }
}

#[test]
fn a_context_is_the_account_of_a_thin_event_only() {
    let thin =
        r#"{"id":"evt_1","type":"a","object":"v2.core.event","livemode":true,"context":"acct_1"}"#;
    assert_eq!(
        receive(Stripe::live(), thin).unwrap().outside,
        Some("account")
    );
    assert_eq!(
        receive(ANY, thin).unwrap().account.as_deref(),
        Some("acct_1")
    );
    let snapshot = thin.replace("v2.core.event", "event");
    let seen = receive(Stripe::live(), snapshot).unwrap();
    assert_eq!((seen.outside, seen.account), (None, None));
    let own = thin.replace(r#""acct_1""#, "null");
    assert_eq!(receive(Stripe::live(), own).unwrap().outside, None);
}

#[test]
fn awkward_but_authentic_json_is_named() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for awkward in [
        r#""big":1e400"#,
        r#""lone":"\ud800","nul":"\u0000""#,
        r#""data":{"id":7,"type":8,"object":{}}"#,
        r#""api_version":"2099-01-01.unheard-of","new":null,"account":null"#,
        &format!(r#""deep":{deep}"#),
    ] {
        for body in [
            format!(r#"{{{awkward},"id":"evt_\u0031","type":"a"}}"#),
            format!("\u{feff}\r\n{{\"type\":\"a\",{awkward},\"id\":\"evt_1\"}}\n"),
        ] {
            let seen = receive(ANY, body).unwrap();
            assert_eq!((seen.id.as_str(), seen.event_type.as_str()), ("evt_1", "a"));
        }
    }
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Id, Type};
    let long = format!(r#"{{"id":"{}","type":"a"}}"#, "x".repeat(256));
    for (body, why) in [
        ("", Body),
        ("Hello, World!", Body),
        ("null", Body),
        (r#"["evt_1","event","a",null,null,true]"#, Body),
        (r#"{"id":"evt_1","type":"a"}{}"#, Body),
        (r#"{"id":"evt_1","type":"a""#, Body),
        (r#"{"id":"evt_1","id":"evt_1","type":"a"}"#, Body),
        (r#"{"id":"evt_1","id":"evt_2","type":"a"}"#, Body),
        (r#"{"id":"evt_1","type":"a","type":"b"}"#, Body),
        (r#"{"id":1,"type":"a"}"#, Body),
        (r#"{"id":null,"type":"a"}"#, Body),
        (r#"{"id":"evt_1","type":"a","livemode":"true"}"#, Body),
        (r#"{"type":"a"}"#, Id),
        (r#"{"id":"","type":"a"}"#, Id),
        (r#"{"id":"evt\u000a1","type":"a"}"#, Id),
        (&long, Id),
        (r#"{"id":"evt_1"}"#, Type),
        (r#"{"id":"evt_1","type":""}"#, Type),
        (r#"{"id":"evt_1","type":"a","account":""}"#, Account),
    ] {
        assert_eq!(receive(ANY, body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(ANY, b"\xff\xfe\0").unwrap_err(), Body);
}

#[test]
fn a_retry_with_other_pending_webhooks_has_the_same_content() {
    let spec = DynProvider::spec(&ANY);
    let first = include_str!("../testdata/payloads/invoice.paid.json");
    let digest = |body: &str| canonical_digest(body.as_bytes(), spec.volatile_paths()).unwrap();
    let retry = first.replace(r#""pending_webhooks": 2"#, r#""pending_webhooks": 1"#);
    assert_ne!(retry, first);
    assert_eq!(digest(&retry), digest(first));
    assert_ne!(digest(&first.replace("eur", "usd")), digest(first));
}
