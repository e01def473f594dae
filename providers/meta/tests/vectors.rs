//! The scheme: vectors, tampering, no window, the round trip.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use webhook_meta::Meta;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const BODY: &str = r#"{"object":"page","entry":[]}"#;

fn meta() -> Meta {
    Meta::verified_by("canary-token")
}

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&meta(), vectors), 19);
}

#[test]
fn only_signed_bytes_verify() {
    let meta = meta();
    let receiver = Receiver::new(&meta, &["a38b7411722fb81ef32f15baf185c5e5"], 1_750_000_000);
    let sha1 = "sha1=b2c2977edb15fbb3eb7b40a0a0dcb88d4ec24e2e";
    let good = receiver.sign(BODY).header("X-Hub-Signature", sha1);
    resist_tampering(&receiver, &good, &["X-Hub-Signature-256"]);
    let shape = "sha(256|1)=[0-9a-f]{63,65}";
    resist_random_headers(&receiver, &good, &[("X-Hub-Signature-256", shape)]);
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&meta(), BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&meta(), BODY.as_bytes(), false);
}
