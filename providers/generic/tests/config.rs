//! What a configuration may not say, and how it is told.
#![expect(clippy::unwrap_used, reason = "tests assert by panicking")]

use webhook_core::{Provider as _, Relabelable};
use webhook_generic::{Config, ConfigError, Generic, Place, Timestamp};
use webhook_vectors::Receiver;

const GOOD: &str = r#"
name = "acme"

[signature]
header = "X-Sig"
content = "{timestamp}.{body}"

[timestamp]
header = "X-Time"

[event]
id = { body = "/id" }
type = { body = "/type" }
"#;

fn fault(toml: &str) -> ConfigError {
    Generic::<webhook_core::Signed>::from_toml(toml).unwrap_err()
}

/// A change to the good configuration, and the fault it is.
type Row = (&'static str, &'static str, &'static str, usize);

const FAULTS: &[Row] = &[
    ("name = \"acme\"", "name = \"Acme Inc\"", "name", 2),
    ("X-Sig", "X Sig", "signature.header", 5),
    ("{timestamp}.{body}", "{timestamp}.", "signature.content", 6),
    ("{timestamp}.{body}", "{body}", "signature.content", 6),
    (
        "{timestamp}.{body}",
        "{timestamp}{body}{body}",
        "signature.content",
        6,
    ),
    (
        "{timestamp}.{body}",
        "{timestamp}.{body",
        "signature.content",
        6,
    ),
    (
        "{timestamp}.{body}",
        "{timestamp}}.{body}",
        "signature.content",
        6,
    ),
    (
        "{timestamp}.{body}",
        "{timestamp}.{path}.{body}",
        "signature.content",
        6,
    ),
    (
        "{timestamp}.{body}",
        "{id}{timestamp}.{body}",
        "signature.content",
        6,
    ),
    (
        "{timestamp}.{body}",
        "{timestamp}.{body}.{id}",
        "signature.content",
        6,
    ),
    (
        "{timestamp}.{body}",
        "{timestamp}.{body}{id}|",
        "signature.content",
        6,
    ),
    ("header = \"X-Time\"", "", "timestamp", 8),
    (
        "header = \"X-Time\"",
        "header = \"X-Time\"\nbody = \"/at\"",
        "timestamp",
        8,
    ),
    (
        "header = \"X-Time\"",
        "body = \"/at\"",
        "signature.content",
        6,
    ),
    (
        "header = \"X-Time\"",
        "header = \"X-Time\"\nwindow_secs = 4000000000",
        "timestamp.window_secs",
        10,
    ),
    ("{ body = \"/id\" }", "{ body = \"id\" }", "event.id", 12),
    ("{ body = \"/id\" }", "{ body = \"\" }", "event.id", 12),
    ("{ body = \"/id\" }", "{ body = [] }", "event.id", 12),
    ("{ body = \"/id\" }", "{}", "event.id", 12),
    ("{ body = \"/id\" }", "{ fixed = \"1\" }", "event.id", 12),
    (
        "{ body = \"/id\" }",
        "{ body = \"/id\", header = \"X-Id\" }",
        "event.id",
        12,
    ),
    (
        "{ body = \"/id\" }",
        "{ header = \"X-Id\" }",
        "event.id.header",
        12,
    ),
    (
        "{ body = \"/id\" }",
        "{ signed_header = \"X-Id\" }",
        "signature.content",
        6,
    ),
    (
        "{ body = \"/type\" }",
        "{ header = \"X-Type\" }",
        "event.type.header",
        13,
    ),
    (
        "{ body = \"/type\" }",
        "{ digest = true }",
        "event.type",
        13,
    ),
    (
        "[timestamp]",
        "[delivery]\nsuccess_status = 500\n[timestamp]",
        "delivery.success_status",
        9,
    ),
    (
        "[timestamp]",
        "[delivery]\nmax_body_bytes = 0\n[timestamp]",
        "delivery.max_body_bytes",
        9,
    ),
    (
        "X-Sig\"",
        "X-Sig\"\nseparator = \",\"",
        "signature.separator",
        6,
    ),
    (
        "X-Sig\"",
        "X-Sig\"\nform = \"versioned\"",
        "signature.separator",
        4,
    ),
    (
        "X-Sig\"",
        "X-Sig\"\nform = \"keyed\"\nseparator = \"=\"",
        "signature.form",
        6,
    ),
    ("name = \"acme\"", "name = 7", "name", 2),
    ("X-Sig\"", "X-Sig\"\nalgorithm = \"none\"", "algorithm", 6),
    ("X-Sig\"", "X-Sig\"\nsecert = \"\"", "secert", 6),
];

#[test]
fn faults_name_key_and_line() {
    for (from, to, key, line) in FAULTS {
        let toml = GOOD.replace(from, to);
        assert_ne!(toml, GOOD, "{from}");
        let fault = fault(&toml);
        assert_eq!(
            (fault.key.as_str(), fault.line),
            (*key, Some(*line)),
            "{to}: {fault}"
        );
    }
    assert!(Generic::<webhook_core::Signed>::from_toml(GOOD).is_ok());
}

#[test]
fn no_timestamp_is_said_aloud() {
    let without = GOOD
        .replace("[timestamp]\nheader = \"X-Time\"", "")
        .replace("{timestamp}.", "");
    let told = fault(&without);
    assert_eq!((told.key.as_str(), told.line), ("timestamp", None));
    assert!(told.why.contains(webhook_generic::ACKNOWLEDGED), "{told}");
    let aloud = |words: &str| format!("untimestamped = \"{words}\"\n{without}");
    assert_eq!(fault(&aloud("yes")).key, "timestamp");
    let words = aloud(webhook_generic::ACKNOWLEDGED);
    let provider: Generic = Generic::from_toml(&words).unwrap();
    assert!(!provider.spec().is_timestamped());
    let both = format!(
        "untimestamped = \"{}\"\n{GOOD}",
        webhook_generic::ACKNOWLEDGED
    );
    assert_eq!(fault(&both).key, "untimestamped");
}

#[test]
fn unsigned_ids_are_relabelable() {
    let toml = GOOD.replace("{ body = \"/id\" }", "{ header = \"X-Id\" }");
    let provider: Generic<Relabelable> = Generic::from_toml(&toml).unwrap();
    let receiver = Receiver::new(&provider, &["a-secret-of-tests"], 1_750_000_000);
    let request = receiver.sign(r#"{"type":"a"}"#).header("X-Id", "7");
    assert_eq!(receiver.accept(&request).event().unwrap().id, "7");
    let nameless = receiver.sign(r#"{"type":"a"}"#);
    assert!(receiver.accept(&nameless).event().is_err());
}

#[test]
fn identities_are_read_where_the_configuration_says() {
    let mut config = Config::new(
        "acme",
        "X-Sig",
        "{url}{timestamp}.{body}",
        "/data/a~1b",
        "/kind",
    );
    config.url = Some("https://shop.example/hooks".to_owned());
    config.timestamp = Some(Timestamp::header("X-Time"));
    let provider: Generic = Generic::new(&config).unwrap();
    let receiver = Receiver::new(&provider, &["a-secret-of-tests"], 1_750_000_000);
    let seen = |body: &str| receiver.accept(&receiver.sign(body)).event();
    let event = seen(r#"{"kind":"paid","data":{"x":[1],"a/b":12345678901234567890}}"#).unwrap();
    assert_eq!(
        (event.id.as_str(), event.event_type.as_str()),
        ("12345678901234567890", "paid")
    );
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"kind":"paid"}"#,
        r#"{"kind":"paid","data":null}"#,
        r#"{"kind":"paid","data":{"a/b":null}}"#,
        r#"{"kind":"paid","data":{"a/b":1.5}}"#,
        r#"{"kind":"paid","data":{"a/b":{}}}"#,
        r#"{"kind":"paid","data":{"a/b":""}}"#,
        r#"{"kind":"paid","data":{"a/b":1,"a/b":2}}"#,
        r#"{"kind":"paid","data":{"a/b":1},"data":{"a/b":2}}"#,
        r#"{"kind":true,"data":{"a/b":1}}"#,
        r#"{"kind":"paid","data":{"a/b":1}}x"#,
    ] {
        assert!(seen(bad).is_err(), "{bad}");
    }
    config.url = None;
    let fault = Generic::<webhook_core::Signed>::new(&config).unwrap_err();
    assert_eq!((fault.key.as_str(), fault.line), ("url", None));
    config.url = Some("https://shop.example/other".to_owned());
    let other: Generic = Generic::new(&config).unwrap();
    let strange = Receiver::new(&other, &["a-secret-of-tests"], 1_750_000_000);
    assert!(strange.receive(&receiver.sign("{}")).is_err());
}

#[test]
fn a_digest_names_what_has_no_name() {
    let mut config = Config::new("acme", "X-Sig", "{timestamp}.{body}", "/id", "/type");
    config.timestamp = Some(Timestamp::header("X-Time"));
    let mut place = Place::default();
    place.digest = Some(true);
    config.event.id = place;
    config.delivery.volatile = vec!["/attempt".to_owned()];
    let provider: Generic = Generic::new(&config).unwrap();
    let receiver = Receiver::new(&provider, &["a-secret-of-tests"], 1_750_000_000);
    let id = |body: &str| receiver.accept(&receiver.sign(body)).event().unwrap().id;
    assert_eq!(
        id(r#"{"type":"a","attempt":1}"#),
        id(r#"{"attempt":2,"type":"a"}"#)
    );
    assert_ne!(id(r#"{"type":"a"}"#), id(r#"{"type":"b"}"#));
}
