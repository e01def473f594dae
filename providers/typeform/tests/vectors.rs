//! The scheme: vectors, tampering, no window, the round trip.

use webhook_typeform::Typeform;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "4yu8cJmPYp3qEoKx0Gd7";
const BODY: &str = r#"{"event_id":"1","event_type":"form_response"}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Typeform, vectors), 27);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Typeform, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("User-Agent", "Typeform Webhooks");
    resist_tampering(&receiver, &good, &["Typeform-Signature"]);
    let shape = "sha(256|1)=[0-9a-zA-Z+/]{42,43}=";
    resist_random_headers(&receiver, &good, &[("Typeform-Signature", shape)]);
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&Typeform, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Typeform, BODY.as_bytes(), false);
}
