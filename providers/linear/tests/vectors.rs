//! The scheme: vectors, tampering, the window, the round trip.

use webhook_linear::Linear;
use webhook_vectors::{
    Receiver, keeps_a_window_of, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "lin_wh_0123456789abcdef";
const BODY: &str = r#"{"type":"Issue","webhookTimestamp":1750000000000}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Linear, vectors), 24);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Linear, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("Linear-Event", "Issue")
        .header("Linear-Timestamp", "1750000000000");
    resist_tampering(&receiver, &good, &["Linear-Signature"]);
    let shape = "(sha256=)?[0-9a-f]{63,65}";
    resist_random_headers(&receiver, &good, &[("Linear-Signature", shape)]);
}

#[test]
fn the_window_is_one_minute_on_both_sides() {
    keeps_a_window_of(&Linear, BODY.as_bytes(), 60);
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Linear, BODY.as_bytes(), false);
}
