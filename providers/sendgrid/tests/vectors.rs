//! The scheme: vectors, tampering, the window, the round trip, keys.

use webhook_core::{KeyConfig, Keyring, KeyringError, Provider as _};
use webhook_sendgrid::SendGrid;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

/// PKCS#8 of a key that signs; SendGrid's own is nobody's.
const PRIVATE: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgojhbJsuAeWh89NXnuLWpNMhdZypdyyNljqRtjYPxJU2hRANCAATWJQ3oxRVmpMtLs2jUkXrqWq0FjlPgwJNvq55poMw9yhn3dPa2Ocdi7t8jM9IDZVx/nidJbliJ7EUI72da5L+F";
const PUBLIC: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE530lQAjxbj7uWQhlm4SkIEDAm6NsFfxNrcpiJj9/mCk+79xU0FKpCyQOt3Dsvlj4CvWQkK8eD4x4sRIMVoU5Sg==";
const BODY: &str = "[{\"event\":\"open\",\"sg_event_id\":\"1\"}]\r\n";
const COUNTS: [&str; 2] = [
    "x-twilio-email-event-webhook-signature",
    "x-twilio-email-event-webhook-timestamp",
];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&SendGrid, vectors), 19);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&SendGrid, &[PRIVATE], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("User-Agent", "SendGrid Event API");
    resist_tampering(&receiver, &good, &COUNTS);
    let shapes = [
        (COUNTS[0], "M[EI][YQU]CI[0-9a-zA-Z+/]{86,92}={0,2}"),
        (COUNTS[1], "17500000[0-9]{2}"),
    ];
    resist_random_headers(&receiver, &good, &shapes);
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&SendGrid, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&SendGrid, BODY.as_bytes(), false);
}

#[test]
fn only_keys_on_the_curve_are_taken() {
    let build = |key: &str| Keyring::build(SendGrid.spec().secret(), [KeyConfig::new(key)]);
    let public = build(PUBLIC).unwrap();
    assert_eq!(public.ensure_signs(), Err(KeyringError::NoSigner));
    assert_eq!(build(PRIVATE).unwrap().ensure_signs(), Ok(()));
    for key in [
        // The last byte of y changed: no point of the curve.
        PUBLIC.replace("oU5Sg==", "oU5Sw=="),
        // Ed25519, and an HMAC secret.
        "MCowBQYDK2VwAyEA4Cbo9IJmHtjSAskv9FkADoMsszmabhSr0sCdPf0AN8M=".to_owned(),
        "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3".to_owned(),
        PUBLIC.trim_end_matches('=').to_owned(),
        format!("{}AAAA", PUBLIC.replace("Sg==", "SgAA")),
        "not base64".to_owned(),
    ] {
        assert_eq!(
            build(&key).unwrap_err(),
            KeyringError::PublicKey(1),
            "{key}"
        );
    }
}
