//! The scheme: vectors, tampering, the window, the round trip.

use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};
use webhook_zoom::Zoom;

const SECRET: &str = "uWBv2CdgT58GCmwI5rgGlW";
const BODY: &str = r#"{"event":"meeting.ended","payload":{}}"#;
const COUNTS: [&str; 2] = ["x-zm-request-timestamp", "x-zm-signature"];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Zoom, vectors), 24);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Zoom, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY).header("authorization", "retired-token");
    resist_tampering(&receiver, &good, &COUNTS);
    let shapes = [
        (COUNTS[0], "17500000[0-9]{2}"),
        (COUNTS[1], "v[01]=[0-9a-f]{63,65}"),
    ];
    resist_random_headers(&receiver, &good, &shapes);
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&Zoom, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Zoom, BODY.as_bytes(), false);
}
