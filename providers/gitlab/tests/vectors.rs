//! The scheme: vectors, tampering, the window, the round trip.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use webhook_gitlab::GitLab;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "whsec_wltYeW1zr/oq4g/LB+mCzvQc0yKyFnuMw3ATX7p1Zc8=";
const BODY: &str = r#"{"object_kind":"push"}"#;
const COUNTS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&GitLab, vectors), 26);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&GitLab, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("Idempotency-Key", "704137ca-3486-4e3a-a52f-495bf001dea5")
        .header("X-Gitlab-Event", "Push Hook")
        .header("X-Gitlab-Token", "a secret token");
    resist_tampering(&receiver, &good, &COUNTS);
    resist_random_headers(
        &receiver,
        &good,
        &[
            ("webhook-id", "[0-9a-f]{8}-[0-9a-f]{4}"),
            ("webhook-timestamp", "17[0-9]{8}"),
            ("webhook-signature", "v1,[0-9a-zA-Z+/]{42,43}="),
        ],
    );
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&GitLab, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&GitLab, BODY.as_bytes(), true);
}
