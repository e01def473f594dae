//! The scheme: vectors, tampering, the window, the round trip.

use webhook_core::{DynProvider, KeyConfig, Keyring};
use webhook_timestamped::Timestamped;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
    signs_alike,
};

const SECRET: &str = "mH2NhMysGlDsL6huZycgOD3Xjg6umRl0WZwQFiLBDpt";
const BODY: &str = r#"{"id":"evt_1","type":"note.created"}"#;
const COUNTS: [&str; 2] = ["X-Webhook-Timestamp", "X-Webhook-Signature"];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Timestamped, vectors), 91);
}

/// There is no other implementation: the first vector, made by an independent one, stands for it.
#[test]
fn the_scheme_is_signed_as_published() {
    let vectors = include_str!("../testdata/vectors.json");
    let mut vectors: Vec<serde_json::Value> = serde_json::from_str(vectors).unwrap();
    vectors.truncate(1);
    assert_eq!(
        signs_alike(&Timestamped, &serde_json::to_string(&vectors).unwrap()),
        1
    );
}

#[test]
fn only_signed_bytes_verify() {
    let named = KeyConfig::new(SECRET).id("2025-06");
    let format = DynProvider::spec(&Timestamped).secret();
    let keys = Keyring::build(format, [named, KeyConfig::new("another-live-key").id("v2")]);
    for receiver in [
        Receiver::with_keys(&Timestamped, keys.unwrap(), 1_750_000_000),
        Receiver::new(&Timestamped, &[SECRET], 1_750_000_000),
    ] {
        let good = receiver.sign(BODY).header("X-Other", "1");
        resist_tampering(&receiver, &good, &COUNTS);
        let shapes = [
            (COUNTS[0], "17500000[0-9]{2}"),
            (
                COUNTS[1],
                "(2025-06=|v2=|v3=)?[0-9a-f]{63,65}(,v2=[0-9a-f]{64})?",
            ),
        ];
        resist_random_headers(&receiver, &good, &shapes);
    }
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&Timestamped, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Timestamped, BODY.as_bytes(), true);
}
