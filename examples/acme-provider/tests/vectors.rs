//! The scheme: vectors, tampering, the window, the round trip.

use webhook_acme::Acme;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "0123456789abcdef01234567";
const BODY: &str = r#"{"id":"evt_1","type":"order.paid"}"#;

#[test]
fn vectors_come_out_as_written() {
    let count = run(&Acme, include_str!("../testdata/vectors.json"));
    assert!(
        count >= 8,
        "{count} cases in testdata/vectors.json: fill in the provider's own and their mutations"
    );
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Acme, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY).header("User-Agent", "Acme/1.0");
    resist_tampering(&receiver, &good, &["Acme-Signature"]);
    let shape = "t=17500000[0-9]{2}(,s=[0-9a-f]{63,65}){1,2}";
    resist_random_headers(&receiver, &good, &[("Acme-Signature", shape)]);
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&Acme, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Acme, BODY.as_bytes(), true);
}
