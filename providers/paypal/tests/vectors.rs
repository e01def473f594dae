//! The scheme: vectors, tampering, the window, the round trip.

use webhook_paypal::PayPal;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

/// PKCS#8 of a key that signs; PayPal's own is nobody's.
const PRIVATE: &str = include_str!("../testdata/private.b64");
const BODY: &str = r#"{"event_type":"A"}"#;
const COUNTS: [&str; 4] = [
    "paypal-transmission-id",
    "paypal-transmission-time",
    "paypal-auth-algo",
    "paypal-transmission-sig",
];

fn paypal() -> PayPal {
    PayPal::dangerous_checksummed_events("1JE4291016473214C")
}

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&paypal(), vectors), 33);
}

/// No single change of a short body keeps its checksum; that longer ones do is a vector.
#[test]
fn only_signed_bytes_verify() {
    let paypal = paypal();
    let receiver = Receiver::new(&paypal, &[PRIVATE.trim()], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("PAYPAL-CERT-URL", "https://evil.example/cert.pem");
    resist_tampering(&receiver, &good, &COUNTS);
    resist_random_headers(
        &receiver,
        &good,
        &[
            (COUNTS[0], "[0-9a-f]{8}-[0-9a-f]{4}"),
            (COUNTS[1], "2025-06-15T15:06:[0-5][0-9]Z"),
            (COUNTS[3], "[0-9a-zA-Z+/]{342}=="),
        ],
    );
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&paypal(), BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&paypal(), BODY.as_bytes(), false);
}
