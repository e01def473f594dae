//! The scheme: vectors, tampering, no window, the round trip.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use webhook_dropbox::Dropbox;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const BODY: &str = r#"{"list_folder":{"accounts":[]}}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Dropbox, vectors), 17);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Dropbox, &["p8w4f2m6q1z9x3k"], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("User-Agent", "DropboxWebhooks/1.0");
    resist_tampering(&receiver, &good, &["X-Dropbox-Signature"]);
    let shape = "(sha256=)?[0-9a-f]{63,65}";
    resist_random_headers(&receiver, &good, &[("X-Dropbox-Signature", shape)]);
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&Dropbox, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Dropbox, BODY.as_bytes(), false);
}
