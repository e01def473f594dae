//! The scheme: vectors, tampering, no window, the round trip.

use webhook_bitbucket::Bitbucket;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "It's a Secret to Everybody";
const BODY: &str = r#"{"push":{"changes":[]}}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Bitbucket, vectors), 30);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Bitbucket, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("X-Event-Key", "repo:push")
        .header("X-Request-UUID", "2b7c9a41-9d8e-4f9b-9a53-3a1a1d7d4c55");
    resist_tampering(&receiver, &good, &["X-Hub-Signature"]);
    let shape = "sha(256|1)=[0-9a-f]{63,65}";
    resist_random_headers(&receiver, &good, &[("X-Hub-Signature", shape)]);
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&Bitbucket, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Bitbucket, BODY.as_bytes(), false);
}
