//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::InvalidEvent;
use webhook_core::bounds::MAX_EVENTS_PER_DELIVERY;
use webhook_sendgrid::SendGrid;
use webhook_vectors::{Receiver, Seen};

const BATCH: &str = include_str!("../testdata/payloads/batch.json");
const PRIVATE: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgojhbJsuAeWh89NXnuLWpNMhdZypdyyNljqRtjYPxJU2hRANCAATWJQ3oxRVmpMtLs2jUkXrqWq0FjlPgwJNvq55poMw9yhn3dPa2Ocdi7t8jM9IDZVx/nidJbliJ7EUI72da5L+F";

fn receive(body: impl Into<Vec<u8>>) -> Result<Vec<Seen>, InvalidEvent> {
    let receiver = Receiver::new(&SendGrid, &[PRIVATE], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).events
}

/// Each item is an event and its own payload, wherever it stands.
#[test]
fn the_items_of_a_batch_are_named() {
    let seen = receive(BATCH).unwrap();
    let named = seen.iter().map(|one| (&*one.id, &*one.event_type));
    let named: Vec<_> = named.collect();
    assert_eq!(
        named,
        [
            ("ZGVsaXZlcmVkLTAtMTIzNDU2Nzg", "delivered"),
            ("b3Blbi0xMjM0NTY3OC0w", "open"),
        ]
    );
    let whole: Vec<Value> = serde_json::from_str(BATCH).unwrap();
    for (seen, item) in seen.iter().zip(whole) {
        assert_eq!((seen.account.as_deref(), seen.outside), (None, None));
        assert_eq!(seen.handled(&SendGrid), Some(item));
    }
}

#[test]
fn a_batch_is_bounded() {
    let batch = |items: usize| {
        let items = (0..items).map(|at| format!(r#"{{"sg_event_id":"{at}","event":"open"}}"#));
        format!("[{}]\r\n", items.collect::<Vec<_>>().join(","))
    };
    let most = receive(batch(MAX_EVENTS_PER_DELIVERY)).unwrap();
    assert_eq!(most.len(), MAX_EVENTS_PER_DELIVERY);
    let refused = receive(batch(MAX_EVENTS_PER_DELIVERY + 1)).unwrap_err();
    assert_eq!(refused, InvalidEvent::Count);
    assert!(receive("[]\r\n").unwrap().is_empty());
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Id, Type};
    let good = r#"{"sg_event_id":"1","event":"open"}"#;
    for (body, why) in [
        ("", Body),
        (good, Body),
        (&format!("[{good}][]"), Body),
        (&format!("[{good},]"), Body),
        (&format!("[{good},[]]"), Body),
        (&format!("[{good},null]"), Body),
        (
            r#"[{"sg_event_id":"1","sg_event_id":"1","event":"open"}]"#,
            Body,
        ),
        (r#"[{"sg_event_id":1,"event":"open"}]"#, Body),
        (r#"[{"event":"open"}]"#, Id),
        (
            &format!(r#"[{good},{{"sg_event_id":"","event":"open"}}]"#),
            Id,
        ),
        (r#"[{"sg_event_id":"1"}]"#, Type),
        (r#"[{"sg_event_id":"1","event":""}]"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
    assert_eq!(receive(b"\xff\xfe\0").unwrap_err(), Body);
}
