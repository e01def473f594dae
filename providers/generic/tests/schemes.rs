//! Schemes with a crate of their own, as TOML: the vectors of those crates come out as written.
#![expect(clippy::unwrap_used, reason = "tests assert by panicking")]

use webhook_core::Relabelable;
use webhook_generic::Generic;
use webhook_vectors::{
    Receiver, keeps_its_window, reads_what_it_signs, resist_tampering, run, signs_alike,
};

fn signed(toml: &str) -> Generic {
    Generic::from_toml(toml).unwrap()
}

/// The cases of a file without those of these names.
fn without(json: &str, names: &[&str]) -> String {
    let mut cases: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    cases.retain(|case| !names.contains(&case["name"].as_str().unwrap()));
    serde_json::to_string(&cases).unwrap()
}

#[test]
fn stripe() {
    let provider = signed(include_str!("schemes/stripe.toml"));
    assert_eq!(
        run(
            &provider,
            include_str!("../../stripe/testdata/vectors.json")
        ),
        85
    );
    let by_library = include_str!("../../stripe/testdata/sdk.json");
    assert_eq!(signs_alike(&provider, by_library), 7);
}

#[test]
fn slack() {
    let provider = signed(include_str!("schemes/slack.toml"));
    assert_eq!(
        run(&provider, include_str!("../../slack/testdata/vectors.json")),
        62
    );
}

#[test]
fn github() {
    let toml = include_str!("schemes/github.toml");
    let provider: Generic<Relabelable> = Generic::from_toml(toml).unwrap();
    assert_eq!(
        run(
            &provider,
            include_str!("../../github/testdata/vectors.json")
        ),
        42
    );
}

/// All but its public keys and its older header names: a configuration has one algorithm and one dialect.
#[test]
fn standard() {
    let provider = signed(include_str!("schemes/standard.toml"));
    let vectors = without(
        include_str!("../../standard/testdata/vectors.json"),
        &[
            "valid with svix- headers",
            "valid v1a",
            "v1 and v1a, receiver has the public key",
            "v1a by another key",
            "v1a key rotation: two v1a",
            "v1a with S + L",
            "v1a of 63 bytes",
            "published example 2",
            "published example 4: v1a",
        ],
    );
    assert_eq!(run(&provider, &vectors), 80);
}

#[test]
fn timestamped() {
    let provider = signed(include_str!("schemes/timestamped.toml"));
    assert_eq!(
        run(
            &provider,
            include_str!("../../timestamped/testdata/vectors.json")
        ),
        91
    );
}

#[test]
fn gates_are_those_of_every_provider() {
    let toml = include_str!("schemes/timestamped.toml");
    let provider = signed(toml);
    let body = br#"{"id":"evt_1","type":"note.created"}"#;
    keeps_its_window(&provider, body);
    reads_what_it_signs(&provider, body, true);
    let receiver = Receiver::new(
        &provider,
        &["mH2NhMysGlDsL6huZycgOD3Xjg6umRl0"],
        1_750_000_000,
    );
    let counts = ["X-Webhook-Timestamp", "X-Webhook-Signature"];
    resist_tampering(&receiver, &receiver.sign(body), &counts);
}
