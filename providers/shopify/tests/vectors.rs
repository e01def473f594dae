//! The scheme: vectors, tampering, no window, the round trip.

use webhook_shopify::Shopify;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const SECRET: &str = "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";
const BODY: &str = r#"{"id":820982911946154508}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Shopify, vectors), 27);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Shopify, &[SECRET], 1_750_000_000);
    for signature in ["X-Shopify-Hmac-Sha256", "Shopify-Hmac-Sha256"] {
        let mut good = receiver
            .sign(BODY)
            .header("X-Shopify-Topic", "orders/delete")
            .header(
                "X-Shopify-Webhook-Id",
                "8bddfb13-c5c0-4fa3-a82c-4d42fca91338",
            );
        good.headers[0].0 = signature.to_owned();
        resist_tampering(&receiver, &good, &[signature]);
        let shape = "[0-9a-zA-Z+/]{42,43}=";
        resist_random_headers(&receiver, &good, &[(signature, shape)]);
    }
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&Shopify, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Shopify, BODY.as_bytes(), false);
}
