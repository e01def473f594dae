//! The scheme: vectors, tampering, the URL, the window, the round trip.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use webhook_core::{Malformed, Rejection};
use webhook_hubspot::{HubSpot, PublicUrl};
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering,
    run_each,
};

const SECRET: &str = "b9cb3ab408a3ee66619c4f991fd2e60a";
const BODY: &str = r#"[{"subscriptionType":"contact.creation"}]"#;
const COUNTS: [&str; 2] = ["x-hubspot-signature-v3", "x-hubspot-request-timestamp"];

fn hubspot() -> HubSpot {
    HubSpot::at(PublicUrl::new("https://hooks.acme.example").unwrap())
}

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    let hubspot = hubspot();
    assert_eq!(run_each(vectors, |_| &hubspot), 22);
}

#[test]
fn only_signed_bytes_verify() {
    let hubspot = hubspot();
    let receiver = Receiver::new(&hubspot, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("Host", "elsewhere.example")
        .header("X-Forwarded-Host", "elsewhere.example")
        .header("X-HubSpot-Signature", "0000");
    resist_tampering(&receiver, &good, &COUNTS);
    resist_random_headers(
        &receiver,
        &good,
        &[
            (COUNTS[0], "[0-9a-zA-Z+/]{42,43}="),
            (COUNTS[1], "17[0-9]{11}"),
        ],
    );
}

#[test]
fn another_url_or_method_does_not_verify() {
    let hubspot = hubspot();
    let receiver = Receiver::new(&hubspot, &[SECRET], 1_750_000_000);
    let signed = receiver.sign(BODY);
    for (method, target) in [
        ("PUT", "/webhooks"),
        ("post", "/webhooks"),
        ("POST", "/webhooks?"),
        ("POST", "/webhooks/"),
        ("POST", "/Webhooks"),
        ("POST", "/%77ebhooks"),
        ("POST", "//webhooks"),
    ] {
        let moved = signed.clone().to(method, target);
        let refused = receiver.receive(&moved).unwrap_err();
        assert_eq!(refused, Rejection::SignatureMismatch, "{method} {target}");
    }
    // What HubSpot undoes has one signature.
    assert!(
        receiver
            .receive(&signed.clone().to("POST", "%2Fwebhooks"))
            .is_err()
    );
    assert!(receiver.receive(&signed.to("POST", "/webhooks")).is_ok());
}

/// Parts are joined without separators.
#[test]
fn no_byte_moves_between_url_and_body() {
    let hubspot = hubspot();
    let receiver = Receiver::new(&hubspot, &[SECRET], 1_750_000_000);
    let signed = receiver.sign(BODY);
    for at in 1..BODY.len() {
        let mut moved = signed
            .clone()
            .to("POST", &format!("/webhooks{}", &BODY[..at]));
        moved.body = BODY.as_bytes()[at..].to_vec();
        let refused = receiver.receive(&moved).unwrap_err();
        assert_eq!(refused, Rejection::Malformed(Malformed::Target), "{at}");
    }
    let mut moved = signed.to("POST", "/webhook");
    moved.body = [b"s", BODY.as_bytes()].concat();
    assert!(receiver.accept(&moved).events.is_err(), "no JSON");
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&hubspot(), BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&hubspot(), BODY.as_bytes(), false);
}
