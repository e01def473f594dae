//! The scheme: vectors, tampering, the URL, no window, the round trip.

use webhook_core::Rejection;
use webhook_square::Square;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering,
    run_each,
};

const URL: &str = "https://hooks.acme.example/square?v=1";
const SECRET: &str = "asdf1234-signature-key";
const BODY: &str = r#"{"event_id":"1","type":"payment.created"}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    let count = run_each(vectors, |url| Box::leak(Box::new(Square::at(url))));
    assert_eq!(count, 22);
}

#[test]
fn only_signed_bytes_verify() {
    let square = Square::at(URL);
    let receiver = Receiver::new(&square, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("Host", "elsewhere.example")
        .header("square-environment", "Production");
    resist_tampering(&receiver, &good, &["x-square-hmacsha256-signature"]);
    let shape = "[0-9a-zA-Z+/]{42,43}=";
    resist_random_headers(
        &receiver,
        &good,
        &[("x-square-hmacsha256-signature", shape)],
    );
}

/// Byte for byte: nothing is normalised.
#[test]
fn another_url_does_not_verify() {
    let square = Square::at(URL);
    let signed = Receiver::new(&square, &[SECRET], 1_750_000_000).sign(BODY);
    for other in [
        "",
        "http://hooks.acme.example/square?v=1",
        "https://hooks.acme.example/square",
        "https://hooks.acme.example/square?v=1&",
        "https://HOOKS.acme.example/square?v=1",
        "https://hooks.acme.example:443/square?v=1",
        "https://hooks.acme.example/%73quare?v=1",
    ] {
        let square = Square::at(other);
        let receiver = Receiver::new(&square, &[SECRET], 1_750_000_000);
        let refused = receiver.receive(&signed).unwrap_err();
        assert_eq!(refused, Rejection::SignatureMismatch, "{other}");
    }
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&Square::at(URL), BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Square::at(URL), BODY.as_bytes(), false);
}
