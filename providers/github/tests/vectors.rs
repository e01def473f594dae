//! The scheme: vectors, the official library, tampering, no window, the round trip.

use webhook_github::GitHub;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
    signs_alike,
};

const SECRET: &str = "It's a Secret to Everybody";
const BODY: &str = r#"{"zen":"Keep it logically awesome."}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&GitHub, vectors), 42);
}

#[test]
fn the_official_library_signs_alike() {
    let signed = include_str!("../testdata/sdk.json");
    assert_eq!(run(&GitHub, signed), 7);
    assert_eq!(signs_alike(&GitHub, signed), 7);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&GitHub, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("X-GitHub-Event", "ping")
        .header("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
        .header(
            "X-Hub-Signature",
            "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6",
        );
    resist_tampering(&receiver, &good, &["X-Hub-Signature-256"]);
    let shape = "sha(256|1)=[0-9a-f]{63,65}";
    resist_random_headers(&receiver, &good, &[("X-Hub-Signature-256", shape)]);
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&GitHub, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&GitHub, BODY.as_bytes(), false);
}
