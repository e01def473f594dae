//! The vectors of four providers, valid and not: each is judged as its file says, for a reason of that kind.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::run::{Folder, webhook};

/// Reasons that may be told for an expectation.
fn reasons(expect: &str) -> &'static [&'static str] {
    match expect {
        // Not every body of a vector is an event.
        "valid" => &["accepted", "no-event"],
        "malformed" => &[
            "header-malformed",
            "header-missing",
            "header-repeated",
            "other-provider",
        ],
        "bad_signature" => &[
            "body-changed",
            "no-match",
            "secret-encoding",
            "secret-unusable",
        ],
        "stale" => &["stale"],
        "future" => &["future"],
        "unknown_key" => &["key-id"],
        other => panic!("{other}"),
    }
}

/// What is said of some of Stripe's.
const SAID: [(&str, &str, &str); 7] = [
    (
        "body re-serialised with spaces",
        "body-changed",
        "as JSON compact",
    ),
    (
        "newline appended to the body",
        "body-changed",
        "without the line feed at its end",
    ),
    (
        "key without its whsec_ prefix",
        "secret-encoding",
        "without `whsec_`",
    ),
    (
        "key base64-decoded after the prefix",
        "secret-encoding",
        "decoded from base64",
    ),
    (
        "secret configured with a trailing newline",
        "secret-encoding",
        "without the white space around it",
    ),
    (
        "timestamp in milliseconds",
        "future",
        "looks like milliseconds",
    ),
    ("wrong secret", "no-match", "none of"),
];

#[test]
fn vectors_are_judged_as_their_files_say() {
    let mut cases: Vec<(&str, Value)> = Vec::new();
    for provider in ["github", "slack", "standard", "stripe"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../providers/{provider}/testdata/vectors.json"));
        let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let plain = vectors.into_iter().filter(|vector| {
            // Those of another window or with keys of another kind are the provider crate's matter.
            vector["secrets"].is_array()
                && vector["policy"].is_null()
                && vector["tolerance"].as_i64().is_none_or(|secs| secs == 300)
        });
        cases.extend(plain.map(|vector| (provider, vector)));
    }
    assert!(cases.len() > 150, "{}", cases.len());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let folder = Folder::new();
                while let Some((provider, vector)) = cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    judge(&folder, provider, vector);
                }
            });
        }
    });
}

fn judge(folder: &Folder, provider: &str, vector: &Value) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let name = text(&vector["name"]);
    let body = BASE64_STANDARD
        .decode(text(&vector["body_base64"]))
        .unwrap();
    let now = vector["now"].to_string();
    let mut call = webhook(["verify", provider, "--json", "--at", &now]);
    call = call.arg("--body").arg(folder.file("body", body));
    for field in vector["headers"].as_array().unwrap() {
        call = call.arg(format!("-H{}: {}", text(&field[0]), text(&field[1])));
    }
    for (nth, secret) in vector["secrets"].as_array().unwrap().iter().enumerate() {
        let variable = format!("SECRET_{nth}");
        call = call
            .env(&variable, &text(secret))
            .arg("--secret-env")
            .arg(variable);
    }
    let ended = call.run();
    let value = ended.json();
    let expect = text(&vector["expect"]);
    let reason = value["reason"].as_str().unwrap_or_default();
    assert!(
        reasons(&expect).contains(&reason),
        "{provider}, {name}: expected {expect}, got {value}"
    );
    assert_eq!(
        ended.code,
        i32::from(reason != "accepted"),
        "{provider}, {name}"
    );
    if provider == "stripe"
        && let Some((_, expected, words)) = SAID.iter().find(|(other, ..)| *other == name)
    {
        assert_eq!(reason, *expected, "{name}: {value}");
        assert!(value.to_string().contains(words), "{name}: {value}");
    }
}
