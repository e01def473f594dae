//! Identity, and what handlers get.

use serde_json::Value;
use webhook_acme::Acme;
use webhook_acme::payloads::{Method, OrderPaid};
use webhook_core::{Event, EventId, FromClaimed, InvalidEvent};
use webhook_vectors::{Receiver, Seen, must_have};

const PAID: &str = include_str!("../testdata/payloads/order.paid.json");

fn receive(body: &str) -> Result<Seen, InvalidEvent> {
    let receiver = Receiver::new(&Acme, &["0123456789abcdef01234567"], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn payloads_are_named_and_read() {
    let seen = receive(PAID).expect("testdata/payloads/order.paid.json is an event");
    assert_eq!((&*seen.id, &*seen.event_type), ("evt_8Rk2", "order.paid"));
    assert_eq!(
        (seen.account.as_deref(), seen.outside),
        (Some("shop_7"), None)
    );
    let data: Value = seen.handled(&Acme).expect("something to decode");
    assert_eq!(
        must_have::<OrderPaid>(&data),
        ["amount", "currency", "order"]
    );
    let paid: OrderPaid = serde_json::from_str(&data.to_string()).expect("an order");
    assert_eq!((paid.amount, paid.method), (4999, Some(Method::Card)));
}

#[test]
fn what_names_no_event_is_refused() {
    for (body, why) in [
        ("", InvalidEvent::Body),
        ("[]", InvalidEvent::Body),
        (r#"{"id":1,"type":"a"}"#, InvalidEvent::Body),
        ("{}", InvalidEvent::Id),
        (r#"{"id":"1"}"#, InvalidEvent::Type),
        (r#"{"id":"1","type":"a","shop":""}"#, InvalidEvent::Account),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
}

/// Ids are signed, so handlers take them as they are.
#[test]
fn handlers_take_payloads_and_ids() {
    fn is_taken<A: FromClaimed<Acme>>() {}
    is_taken::<Event<OrderPaid>>();
    is_taken::<EventId>();
}
