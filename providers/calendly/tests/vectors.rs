//! The scheme: vectors, tampering, the window, the round trip.

use webhook_calendly::Calendly;
use webhook_vectors::{
    Receiver, keeps_a_window_of, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "vGzC0nN9Q4cR2p1wYxT6uKf8";
const BODY: &str = r#"{"event":"invitee.created","payload":{"uri":"u"}}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Calendly, vectors), 46);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Calendly, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY).header("User-Agent", "Calendly");
    resist_tampering(&receiver, &good, &["Calendly-Webhook-Signature"]);
    let shape = "t=17500000[0-9]{2}(,v[01]=[0-9a-f]{63,65}){1,2}";
    resist_random_headers(&receiver, &good, &[("Calendly-Webhook-Signature", shape)]);
}

#[test]
fn the_window_is_three_minutes_on_both_sides() {
    keeps_a_window_of(&Calendly, BODY.as_bytes(), 180);
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Calendly, BODY.as_bytes(), true);
}
