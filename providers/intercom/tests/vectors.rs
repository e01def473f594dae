//! The scheme: vectors, tampering, no window, the round trip.

use webhook_intercom::Intercom;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "4f7c1e90-77aa-4d1b-9a83-5d0c2b6e1f35";
const BODY: &str = r#"{"id":"notif_1","topic":"contact.user.created"}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Intercom, vectors), 33);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Intercom, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("User-Agent", "intercom-parrot-service-client/1.0");
    resist_tampering(&receiver, &good, &["X-Hub-Signature"]);
    let shape = "sha(1|256)=[0-9a-f]{39,41}";
    resist_random_headers(&receiver, &good, &[("X-Hub-Signature", shape)]);
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&Intercom, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Intercom, BODY.as_bytes(), false);
}
