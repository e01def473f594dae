//! The scheme: vectors, tampering, the window, the round trip.

use webhook_vectors::{
    Receiver, keeps_a_window_of, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};
use webhook_workos::WorkOs;

const SECRET: &str = "SgQmY4nJ1b8ZpK0wXvT5cRf7L";
const BODY: &str = r#"{"id":"event_1","event":"user.created","data":{}}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&WorkOs, vectors), 53);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&WorkOs, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY).header("User-Agent", "WorkOS/1.0");
    resist_tampering(&receiver, &good, &["WorkOS-Signature"]);
    let shape = "t=17500000[0-9]{5}(, ?v[01]=[0-9a-f]{63,65}){1,2}";
    resist_random_headers(&receiver, &good, &[("WorkOS-Signature", shape)]);
}

#[test]
fn the_window_is_three_minutes_on_both_sides() {
    keeps_a_window_of(&WorkOs, BODY.as_bytes(), 180);
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&WorkOs, BODY.as_bytes(), true);
}
