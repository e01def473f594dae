//! The scheme: vectors, tampering, the window, the round trip, keys.

use webhook_core::{KeyConfig, Keyring, KeyringError, Provider as _, Signing};
use webhook_discord::Discord;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

const DISCORD: Discord = Discord::interactions();
/// PKCS#8 of a key that signs; Discord's own is nobody's.
const PRIVATE: &str = "MC4CAQAwBQYDK2VwBCIEID6fjO1i8uwdCON29gUSUylMMwLn8qFqX7tM3HztPoec";
const BODY: &str = r#"{"id":"1","type":2,"data":{}}"#;
const COUNTS: [&str; 2] = ["x-signature-ed25519", "x-signature-timestamp"];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&DISCORD, vectors), 47);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&DISCORD, &[PRIVATE], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("User-Agent", "Discord-Interactions/1.0");
    resist_tampering(&receiver, &good, &COUNTS);
    let shapes = [
        (COUNTS[0], "[0-9a-f]{127,129}"),
        (COUNTS[1], "17500000[0-9]{2}"),
    ];
    resist_random_headers(&receiver, &good, &shapes);
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&DISCORD, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&DISCORD, BODY.as_bytes(), false);
}

/// Whoever holds the public key alone can sign nothing with it, by any algorithm.
#[test]
fn a_public_key_does_not_sign() {
    let public = "ac1c8dca6bff941685df4d122b5bfb561c356c2404d82bdb47c5c1f3f6537fbf";
    let keys = Keyring::build(DISCORD.spec().secret(), [KeyConfig::new(public)]).unwrap();
    assert_eq!(keys.ensure_signs(), Err(KeyringError::NoSigner));
    let headers = DISCORD.sign(&Signing::new(&keys, BODY.as_bytes(), 1_750_000_000));
    assert!(headers.contains(&("x-signature-ed25519", String::new())));
}

#[test]
fn keys_that_verify_what_nobody_signed_are_refused() {
    let p = |first: &str, last: &str| format!("{first}{}{last}", "ff".repeat(30));
    for key in [
        "00".repeat(32), // of order 4
        format!("{}80", "00".repeat(31)),
        format!("01{}", "00".repeat(31)), // the neutral element
        p("ec", "7f"),                    // of order 2
        p("ed", "7f"),                    // not canonical
        p("ee", "ff"),
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a".to_owned(),
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85".to_owned(),
        "ab".repeat(31),
        "AC1C8DCA6BFF941685DF4D122B5BFB561C356C2404D82BDB47C5C1F3F6537FBF".to_owned(),
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned(),
    ] {
        let built = Keyring::build(DISCORD.spec().secret(), [KeyConfig::new(key.as_str())]);
        assert_eq!(built.err(), Some(KeyringError::PublicKey(1)), "{key}");
    }
}
