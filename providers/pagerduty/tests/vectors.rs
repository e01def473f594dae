//! The scheme: vectors, tampering, no window, the round trip.

use webhook_pagerduty::PagerDuty;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "zHTzm1bDaDwTyPNqf9AK8nE4rJ2w";
const BODY: &str = r#"{"event":{"id":"1","event_type":"service.created"}}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&PagerDuty, vectors), 15);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&PagerDuty, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("User-Agent", "PagerDuty-Webhook/V3.0");
    resist_tampering(&receiver, &good, &["X-PagerDuty-Signature"]);
    let shape = "v[12]=[0-9a-f]{63,65}(,v1=[0-9a-f]{63,65})?";
    resist_random_headers(&receiver, &good, &[("X-PagerDuty-Signature", shape)]);
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&PagerDuty, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&PagerDuty, BODY.as_bytes(), true);
}
