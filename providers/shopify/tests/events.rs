//! Identity from unsigned headers and the signed body, and what corroborates it.

use serde_json::Value;
use webhook_core::{DynProvider as _, InvalidEvent, Malformed, Rejection};
use webhook_shopify::Shopify;
use webhook_vectors::{Receiver, Request, Seen};

const SECRET: &str = "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";
const ID: &str = "8bddfb13-c5c0-4fa3-a82c-4d42fca91338";
const ORDER: &str = include_str!("../testdata/payloads/orders_create.json");
const COMPLIANCE: [(&str, &str); 3] = [
    (
        "customers/data_request",
        include_str!("../testdata/payloads/customers_data_request.json"),
    ),
    (
        "customers/redact",
        include_str!("../testdata/payloads/customers_redact.json"),
    ),
    (
        "shop/redact",
        include_str!("../testdata/payloads/shop_redact.json"),
    ),
];

fn receiver() -> Receiver<'static> {
    Receiver::new(&Shopify, &[SECRET], 1_750_000_000)
}

fn request(body: &str, headers: &[(&str, &str)]) -> Request {
    let signed = receiver().sign(body);
    headers.iter().fold(signed, |request, (name, value)| {
        request.header(name, *value)
    })
}

fn receive(body: &str, headers: &[(&str, &str)]) -> Result<Seen, InvalidEvent> {
    receiver().accept(&request(body, headers)).event()
}

fn named(topic: &str, body: &str) -> Result<Seen, InvalidEvent> {
    let headers = [
        ("X-Shopify-Topic", topic),
        ("X-Shopify-Webhook-Id", ID),
        ("X-Shopify-Shop-Domain", "mallory.myshopify.com"),
    ];
    receive(body, &headers)
}

#[test]
fn payloads_are_named() {
    let payloads = COMPLIANCE.into_iter().chain([("orders/create", ORDER)]);
    for (topic, body) in payloads {
        let seen = named(topic, body).unwrap();
        assert_eq!((seen.id.as_str(), seen.event_type.as_str()), (ID, topic));
        let whole: Value = serde_json::from_str(body).unwrap();
        assert_eq!(seen.handled(&Shopify), Some(whole));
        assert!(Shopify.corroborates(topic, body.as_bytes()), "{topic}");
    }
    assert!(!Shopify.signs_identity());
}

/// The header's shop is whatever a forger wrote.
#[test]
fn the_shop_is_the_signed_body_s_or_an_unsigned_header() {
    for (body, account) in [
        ("{}", None),
        (COMPLIANCE[2].1, Some("acme-example.myshopify.com")),
        (
            r#"{"id":1,"domain":"acme.example","myshopify_domain":"acme.myshopify.com"}"#,
            Some("acme.myshopify.com"),
        ),
        (r#"{"shop":{"shop_domain":"acme.myshopify.com"}}"#, None),
        (r#"{"shop_domain":null}"#, None),
    ] {
        let seen = named("app/uninstalled", body).unwrap();
        assert_eq!(seen.account.as_deref(), account, "{body}");
        let unsigned = seen.headers.get("x-shopify-shop-domain");
        assert_eq!(unsigned, Some("mallory.myshopify.com"));
    }
    let empty = named("shop/redact", r#"{"shop_domain":""}"#);
    assert_eq!(empty.unwrap_err(), InvalidEvent::Account);
}

#[test]
fn names_go_with_the_signature() {
    let both = [
        ("X-Shopify-Topic", "orders/create"),
        ("X-Shopify-Webhook-Id", "old"),
        ("shopify-topic", "orders/update"),
        ("shopify-webhook-id", "new"),
    ];
    let signed = request("{}", &both);
    let seen = receiver().accept(&signed).event().unwrap();
    assert_eq!((&*seen.id, &*seen.event_type), ("old", "orders/create"));
    let mut events = signed.clone();
    events.headers[0].0 = "shopify-hmac-sha256".to_owned();
    let seen = receiver().accept(&events).event().unwrap();
    assert_eq!((&*seen.id, &*seen.event_type), ("new", "orders/update"));
    // Authentic under both names is still two requests in one.
    let signature = signed.headers[0].1.clone();
    let twice = signed.header("shopify-hmac-sha256", signature);
    assert_eq!(
        receiver().receive(&twice).unwrap_err(),
        Rejection::Malformed(Malformed::Mixed("shopify-hmac-sha256"))
    );
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let (topic, id) = (
        ("X-Shopify-Topic", "orders/create"),
        ("X-Shopify-Webhook-Id", ID),
    );
    for (body, headers, why) in [
        ("", vec![topic, id], Body),
        ("[]", vec![topic, id], Body),
        ("payload={}", vec![topic, id], Body),
        ("{}{}", vec![topic, id], Body),
        (r#"{"shop_domain":1}"#, vec![topic, id], Body),
        ("{}", vec![topic], Id),
        ("{}", vec![topic, id, id], Id),
        ("{}", vec![topic, ("X-Shopify-Webhook-Id", "")], Id),
        ("{}", vec![topic, ("X-Shopify-Webhook-Id", "é")], Id),
        ("{}", vec![topic, ("shopify-webhook-id", ID)], Id),
        ("{}", vec![id], Type),
        ("{}", vec![topic, topic, id], Type),
        ("{}", vec![id, ("X-Shopify-Topic", "")], Type),
    ] {
        assert_eq!(
            receive(body, &headers).unwrap_err(),
            why,
            "{body} {headers:?}"
        );
    }
}

/// Whoever captured a customer's redaction cannot have a shop erased.
#[test]
fn compliance_topics_are_told_apart() {
    for (topic, _) in COMPLIANCE {
        for (other, body) in COMPLIANCE {
            let corroborates = Shopify.corroborates(topic, body.as_bytes());
            assert_eq!(corroborates, topic == other, "{other} under {topic}");
        }
        assert!(!Shopify.corroborates(topic, ORDER.as_bytes()), "{topic}");
    }
}

#[test]
fn a_body_speaks_against_other_topics() {
    for (topic, body, corroborates) in [
        (
            "orders/create",
            r#"{"admin_graphql_api_id":"gid://shopify/Order/1"}"#,
            true,
        ),
        (
            "orders/paid",
            r#"{"admin_graphql_api_id":"gid://shopify/Order/1"}"#,
            true,
        ),
        (
            "refunds/create",
            r#"{"admin_graphql_api_id":"gid://shopify/Order/1"}"#,
            false,
        ),
        (
            "orders/create",
            r#"{"admin_graphql_api_id":"gid://shopify/DraftOrder/1"}"#,
            false,
        ),
        (
            "products/update",
            r#"{"admin_graphql_api_id":"gid://shopify/Product/1"}"#,
            true,
        ),
        (
            "products/delete",
            r#"{"admin_graphql_api_id":"gid://shopify/Product/1"}"#,
            true,
        ),
        ("products/delete", r#"{"id":1}"#, true),
        (
            "products/delete",
            r#"{"id":1,"created_at":"2025-06-15T15:06:40Z"}"#,
            false,
        ),
        ("orders/delete", r#"{"id":1}"#, true),
        ("orders/delete", ORDER, false),
        (
            "orders/cancelled",
            r#"{"id":1,"cancelled_at":"2025-06-15T15:06:40Z"}"#,
            true,
        ),
        ("orders/cancelled", r#"{"id":1,"cancelled_at":null}"#, false),
        ("orders/cancelled", ORDER, false),
        // Left out by the subscription's `include_fields`: nothing speaks against it.
        ("orders/cancelled", r#"{"id":1}"#, true),
        ("orders/create", r#"{"id":1}"#, true),
        // Topics and resources that the table does not know.
        (
            "themes/update",
            r#"{"admin_graphql_api_id":"gid://shopify/Order/1"}"#,
            true,
        ),
        (
            "orders/create",
            r#"{"admin_graphql_api_id":"gid://shopify/OfTomorrow/1"}"#,
            true,
        ),
        ("of_tomorrow", "{}", true),
        ("orders/create", r#"{"admin_graphql_api_id":1}"#, false),
        ("orders/create", "[]", false),
        ("orders/create", "", false),
    ] {
        assert_eq!(
            Shopify.corroborates(topic, body.as_bytes()),
            corroborates,
            "{body} under {topic}"
        );
    }
}
