//! Identity from the signed transmission, and an event under a checksum.

use serde_json::Value;
use webhook_core::{DynProvider as _, InvalidEvent};
use webhook_paypal::PayPal;
use webhook_vectors::{Receiver, Seen};

const COMPLETED: &str = include_str!("../testdata/payloads/capture.completed.json");

fn receive(body: &str) -> Result<Seen, InvalidEvent> {
    let paypal = PayPal::dangerous_checksummed_events("1JE4291016473214C");
    let private = include_str!("../testdata/private.b64").trim();
    let receiver = Receiver::new(&paypal, &[private], 1_750_000_000);
    receiver.accept(&receiver.sign(body)).event()
}

#[test]
fn the_transmission_names_the_event() {
    let paypal = PayPal::dangerous_checksummed_events("1JE4291016473214C");
    let seen = receive(COMPLETED).unwrap();
    assert_eq!(
        (&*seen.event_type, seen.account.as_deref()),
        ("PAYMENT.CAPTURE.COMPLETED", None)
    );
    assert_eq!(seen.id.len(), 64, "the transmission's, not the body's");
    let whole: Value = serde_json::from_str(COMPLETED).unwrap();
    assert_eq!(seen.handled(&paypal).as_ref(), whole.get("resource"));
    // So handlers are told that the event is not signed, and its content is claimed too.
    assert!(!paypal.signs_identity());
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Body, Type};
    for (body, why) in [
        ("", Body),
        ("[]", Body),
        (r#"{"event_type":1}"#, Body),
        (r#"{"event_type":"A","event_type":"B"}"#, Body),
        (r#"{"event_type":"A"}{}"#, Body),
        ("{}", Type),
        (r#"{"event_type":""}"#, Type),
    ] {
        assert_eq!(receive(body).unwrap_err(), why, "{body}");
    }
}

#[test]
fn only_urls_of_paypal_are_certificates() {
    let live = "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270";
    let sandbox = "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1";
    assert!(PayPal::is_certificate_url(live) && !PayPal::is_sandbox_certificate_url(live));
    assert!(PayPal::is_sandbox_certificate_url(sandbox) && !PayPal::is_certificate_url(sandbox));
    for bad in [
        "",
        "http://api.paypal.com/v1/notifications/certs/CERT-1",
        "https://api.paypal.com/v1/notifications/certs/",
        "https://api.paypal.com/v1/notifications/certs/../CERT-1",
        "https://api.paypal.com/v1/notifications/certs/CERT-1?a",
        "https://api.paypal.com/v2/notifications/certs/CERT-1",
        "https://api.paypal.com:444/v1/notifications/certs/CERT-1",
        "https://api.paypal.com.evil.example/v1/notifications/certs/CERT-1",
        "https://api.paypal.com@evil.example/v1/notifications/certs/CERT-1",
        "https://evil.example/v1/notifications/certs/CERT-1",
    ] {
        assert!(!PayPal::is_certificate_url(bad), "{bad}");
        let bad = bad.replace("api.paypal", "api.sandbox.paypal");
        assert!(!PayPal::is_sandbox_certificate_url(&bad), "{bad}");
    }
}
