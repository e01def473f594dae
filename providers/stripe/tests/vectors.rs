//! The scheme: vectors, the official library, tampering, the window, the round trip.

use webhook_stripe::Stripe;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
    signs_alike,
};

const STRIPE: Stripe = Stripe::any_mode().any_account();
const SECRET: &str = "whsec_mpPyiJ0AnajRXL8RJOWUSOfvyB6zbnrT";
const BODY: &str = r#"{"id":"evt_1","type":"invoice.paid"}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&STRIPE, vectors), 85);
}

#[test]
fn the_official_library_signs_alike() {
    let signed = include_str!("../testdata/sdk.json");
    assert_eq!(run(&STRIPE, signed), 7);
    assert_eq!(signs_alike(&STRIPE, signed), 7);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&STRIPE, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY).header("User-Agent", "Stripe/1.0");
    resist_tampering(&receiver, &good, &["Stripe-Signature"]);
    let shape = "t=17500000[0-9]{2}(,v[01]=[0-9a-f]{63,65}){1,3}";
    resist_random_headers(&receiver, &good, &[("Stripe-Signature", shape)]);
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&STRIPE, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&STRIPE, BODY.as_bytes(), true);
}
