//! The scheme: vectors, tampering, the window, the round trip.

use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};
use webhook_zendesk::Zendesk;

const SECRET: &str = "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==";
const BODY: &str = r#"{"id":"1","type":"zen:event-type:user.created"}"#;
const COUNTS: [&str; 2] = [
    "X-Zendesk-Webhook-Signature",
    "X-Zendesk-Webhook-Signature-Timestamp",
];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Zendesk, vectors), 48);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Zendesk, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("X-Zendesk-Account-Id", "12514403")
        .header("X-Zendesk-Webhook-Id", "01F1KRFQ6BG29CNWFR60NK5FNY");
    resist_tampering(&receiver, &good, &COUNTS);
    let shapes = [
        (COUNTS[0], "[0-9a-zA-Z+/]{42,43}="),
        (
            COUNTS[1],
            "2025-06-15T15:0[0-9]:[0-6][0-9](\\.[0-9]{0,3})?Z?",
        ),
    ];
    resist_random_headers(&receiver, &good, &shapes);
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&Zendesk, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Zendesk, BODY.as_bytes(), false);
}
