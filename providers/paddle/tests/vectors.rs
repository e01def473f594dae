//! The scheme: vectors, tampering, the window, the round trip.

use webhook_paddle::Paddle;
use webhook_vectors::{
    Receiver, keeps_a_window_of, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "pdl_ntfset_01gkdqbvvzyz6t2r8m9q4k7w5x_Qm8Yt";
const BODY: &str = r#"{"event_id":"evt_1","event_type":"product.created"}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Paddle, vectors), 29);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Paddle, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY).header("User-Agent", "Paddle/1.0");
    resist_tampering(&receiver, &good, &["Paddle-Signature"]);
    let shape = "ts=17500000[0-9]{2}(;h[12]=[0-9a-f]{63,65}){1,2}";
    resist_random_headers(&receiver, &good, &[("Paddle-Signature", shape)]);
}

#[test]
fn the_window_is_five_seconds_on_both_sides() {
    keeps_a_window_of(&Paddle, BODY.as_bytes(), 5);
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Paddle, BODY.as_bytes(), true);
}
