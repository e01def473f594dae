//! The scheme: vectors, the official library, tampering, the window, the round trip.

use webhook_slack::Slack;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
    signs_alike,
};

const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
const BODY: &str = r#"{"type":"a","event_id":"Ev1"}"#;
const COUNTS: [&str; 2] = ["X-Slack-Request-Timestamp", "X-Slack-Signature"];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Slack, vectors), 62);
}

#[test]
fn the_official_library_signs_alike() {
    let signed = include_str!("../testdata/sdk.json");
    assert_eq!(run(&Slack, signed), 10);
    assert_eq!(signs_alike(&Slack, signed), 10);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Slack, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY).header("X-Slack-Retry-Num", "1");
    resist_tampering(&receiver, &good, &COUNTS);
    let shapes = [
        (COUNTS[0], "17500000[0-9]{2}"),
        (COUNTS[1], "v[01]=[0-9a-f]{63,65}"),
    ];
    resist_random_headers(&receiver, &good, &shapes);
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&Slack, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Slack, BODY.as_bytes(), false);
}
