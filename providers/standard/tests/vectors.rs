//! The scheme: vectors, the official library, tampering, the window, the round trip, kinds of keys.
#![expect(clippy::unwrap_used, reason = "tests assert by panicking")]

use webhook_core::{
    EventId, KeyConfig, Keyring, KeyringError, Malformed, Provider as _, Rejection, SecretFormat,
    Signing,
};
use webhook_standard::Standard;
use webhook_vectors::{
    Receiver, Request, keeps_its_window, reads_what_it_signs, resist_random_headers,
    resist_tampering, run, signs_alike,
};

const STANDARD: Standard = Standard::new();
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY: &str = r#"{"type":"note.created","data":{}}"#;
const COUNTS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&STANDARD, vectors), 89);
}

#[test]
fn the_official_library_signs_alike() {
    let signed = include_str!("../testdata/sdk.json");
    assert_eq!(run(&STANDARD, signed), 6);
    assert_eq!(signs_alike(&STANDARD, signed), 6);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&STANDARD, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY).header("User-Agent", "Svix-Webhooks/1");
    resist_tampering(&receiver, &good, &COUNTS);
    let shapes = [
        (COUNTS[0], "msg_[0-9a-zA-Z.]{0,30}"),
        (COUNTS[1], "17500000[0-9]{2}"),
        (
            COUNTS[2],
            "v1a?,[0-9a-zA-Z+/]{42,43}=( v1,[0-9a-zA-Z+/]{43}=)?( v1a,[0-9a-zA-Z+/]{86}==)?",
        ),
    ];
    resist_random_headers(&receiver, &good, &shapes);
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&STANDARD, BODY.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&STANDARD, BODY.as_bytes(), true);
}

/// The headers of a request signed now, by the names of the older dialect.
fn renamed(good: &Request, which: &[&str]) -> Request {
    let headers = good.headers.iter().map(|(name, value)| {
        let name = if which.contains(&name.as_str()) {
            name.replace("webhook-", "svix-")
        } else {
            name.clone()
        };
        (name, value.clone())
    });
    Request::new(headers, good.body.clone())
}

#[test]
fn dialects_are_read_alone_and_never_mixed() {
    let receiver = Receiver::new(&STANDARD, &[SECRET], 1_750_000_000);
    let good = receiver.sign(BODY);
    let older = renamed(&good, &COUNTS);
    assert!(receiver.receive(&older).is_ok());
    resist_tampering(
        &receiver,
        &older,
        &["svix-id", "svix-timestamp", "svix-signature"],
    );
    for which in [
        &COUNTS[..1],
        &COUNTS[1..2],
        &COUNTS[2..],
        &COUNTS[..2],
        &COUNTS[1..],
    ] {
        let mixed = receiver.receive(&renamed(&good, which)).unwrap_err();
        assert!(
            matches!(mixed, Rejection::Malformed(Malformed::Mixed(_))),
            "{which:?}: {mixed}"
        );
    }
    // Whole and authentic under both names is still two requests in one.
    let mut both = good.clone();
    both.headers.extend(older.headers);
    let mixed = receiver.receive(&both).unwrap_err();
    assert_eq!(
        mixed,
        Rejection::Malformed(Malformed::Mixed("svix-signature"))
    );
}

#[test]
fn no_headers_are_missing_headers_of_the_standard() {
    let receiver = Receiver::new(&STANDARD, &[SECRET], 1_750_000_000);
    let none = Request::new([("host", "x")], BODY);
    let missing = receiver.receive(&none).unwrap_err();
    assert_eq!(
        missing,
        Rejection::Malformed(Malformed::Missing("webhook-signature"))
    );
}

#[test]
fn bytes_do_not_move_between_id_timestamp_and_body() {
    let receiver = Receiver::new(&STANDARD, &[SECRET], 1_750_000_000);
    // One signed content, two ways to cut it.
    let body = format!("1750000000.{BODY}");
    let id = EventId::new("a").unwrap();
    let signing = Signing::new(&receiver.keys, body.as_bytes(), 1_749_999_990).id(id);
    let good = Request::new(receiver.provider.sign(&signing), body.as_str());
    assert!(receiver.receive(&good).is_ok());
    let mut cut = good.clone();
    cut.headers[0].1 = b"a.1749999990".to_vec();
    cut.headers[1].1 = b"1750000000".to_vec();
    cut.body = BODY.into();
    let refused = receiver.receive(&cut).unwrap_err();
    assert_eq!(
        refused,
        Rejection::Malformed(Malformed::Grammar("webhook-id"))
    );
}

/// The published private key of a test of Svix's, and what it signs there.
const PRIVATE: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";

fn ring(secrets: &[&str]) -> Keyring {
    let keys = secrets.iter().map(|secret| KeyConfig::new(*secret));
    Keyring::build(STANDARD.spec().secret(), keys).unwrap()
}

fn signed(keys: &Keyring) -> Vec<(&'static str, String)> {
    let id = EventId::new("msg_p5jXN8AQM9LWM0D4loKWxJek").unwrap();
    let signing = Signing::new(keys, br#"{"test": 2432232314}"#, 1_614_265_330);
    STANDARD.sign(&signing.id(id).with_every_key())
}

#[test]
fn a_private_key_signs_as_published_and_a_public_one_not_at_all() {
    let hmac = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    let ed25519 = "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";
    for (secrets, signature) in [
        (&[PRIVATE][..], ed25519.to_owned()),
        (&[SECRET, PRIVATE], format!("{hmac} {ed25519}")),
        (&[PUBLIC, SECRET], hmac.to_owned()),
        (&[PUBLIC], String::new()),
    ] {
        let keys = ring(secrets);
        assert_eq!(keys.ensure_signs().is_ok(), !signature.is_empty());
        assert_eq!(signed(&keys).pop(), Some(("webhook-signature", signature)));
    }
    // One key under two spellings is one key.
    let twice = [PUBLIC, PRIVATE].map(KeyConfig::new);
    let refused = Keyring::build(STANDARD.spec().secret(), twice).unwrap_err();
    assert_eq!(refused, KeyringError::DuplicateSecret(2));
}

/// Each of them would cost a hash of the whole body, before anybody is authentic.
#[test]
fn signatures_by_public_keys_are_few() {
    let receiver = Receiver::with_keys(&STANDARD, ring(&[PUBLIC]), 1_614_265_330);
    let receive = |count: usize| {
        let mut headers = signed(&ring(&[PRIVATE]));
        let (_, signature) = headers.last_mut().unwrap();
        *signature = vec![signature.clone(); count].join(" ");
        let body = br#"{"test": 2432232314}"#;
        receiver.receive(&Request::new(headers, body)).map(drop)
    };
    assert_eq!(receive(4), Ok(()));
    let refused = Err(Rejection::Malformed(Malformed::Candidates));
    assert_eq!(receive(5), refused);
}

/// Secrets and public keys beside each other, each for its own version.
#[test]
fn no_key_is_tried_by_another_s_algorithm() {
    let body = br#"{"test": 2432232314}"#;
    let receive = |secrets: &[&str], headers| {
        let receiver = Receiver::with_keys(&STANDARD, ring(secrets), 1_614_265_330);
        receiver.receive(&Request::new(headers, body)).map(drop)
    };
    let by_secret = || signed(&ring(&[SECRET]));
    let by_key = || signed(&ring(&[PRIVATE]));
    for both in [[SECRET, PUBLIC], [PUBLIC, SECRET]] {
        assert_eq!(receive(&both, by_secret()), Ok(()));
        assert_eq!(receive(&both, by_key()), Ok(()));
    }
    assert_eq!(receive(&[SECRET], by_key()), Err(Rejection::UnknownKey));
    assert_eq!(receive(&[PUBLIC], by_secret()), Err(Rejection::UnknownKey));
    // Whoever can read the public key makes an HMAC with it: of its bytes, or of its text.
    let as_secret = PUBLIC.replace("whpk_", "whsec_");
    let forged = || signed(&ring(&[&as_secret]));
    assert_eq!(receive(&[&as_secret], forged()), Ok(()));
    assert_eq!(receive(&[PUBLIC], forged()), Err(Rejection::UnknownKey));
    let mixed = receive(&[SECRET, PUBLIC], forged());
    assert_eq!(mixed, Err(Rejection::SignatureMismatch));
    let text = Standard::new().text_secrets();
    let refused = Keyring::build(text.spec().secret(), [KeyConfig::new(PUBLIC)]);
    assert_eq!(refused.unwrap_err(), KeyringError::NotSecret(1));
}

#[test]
fn keys_of_standard_webhooks_are_read_by_their_prefix() {
    use KeyringError::{Blank, Encoding, PublicKey, Short};
    for (key, why) in [
        ("whpk_", PublicKey(1)),
        ("whsk_", PublicKey(1)),
        ("whsec_", Blank(1)),
        (
            "whpk_AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            PublicKey(1),
        ),
        (
            "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4",
            PublicKey(1),
        ),
        (
            "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOirc+",
            PublicKey(1),
        ),
        ("whpk_MDEyMzQ1Njc4OWFiY2RlZg==", PublicKey(1)),
        // A seed with another key's public half.
        (&PRIVATE.replace("Fs6Kvg==", "Fs6Kvw=="), PublicKey(1)),
        ("whsk_MDEyMzQ1Njc4OWFiY2RlZg==", PublicKey(1)),
        (
            "whxx_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
            Encoding(1),
        ),
        ("whsec_MDEyMzQ1Ng==", Short(1)),
    ] {
        let built = Keyring::build(STANDARD.spec().secret(), [KeyConfig::new(key)]);
        assert_eq!(built.err(), Some(why), "{key}");
    }
    let whole = ring(&[PRIVATE]);
    let seed = ring(&["whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc="]);
    assert!(whole.fingerprints().eq(seed.fingerprints()));
    assert!(whole.fingerprints().eq(ring(&[PUBLIC]).fingerprints()));
    assert_eq!(whole.short_keys(), 0);
}

#[test]
fn secrets_that_are_text_are_not_decoded() {
    let text = Standard::new().text_secrets();
    let (decoded, verbatim) = (
        Receiver::new(&STANDARD, &[SECRET], 1_750_000_000),
        Receiver::new(&text, &[SECRET], 1_750_000_000),
    );
    assert!(matches!(
        verbatim.provider.spec().secret(),
        SecretFormat::Text { .. }
    ));
    assert!(verbatim.receive(&verbatim.sign(BODY)).is_ok());
    for (receiver, sender) in [(&decoded, &verbatim), (&verbatim, &decoded)] {
        let refused = receiver.receive(&sender.sign(BODY)).unwrap_err();
        assert_eq!(refused, Rejection::SignatureMismatch);
    }
}
