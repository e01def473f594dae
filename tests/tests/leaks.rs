//! Canaries in secrets, signatures, bodies, headers and errors: none comes out anywhere.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;
use webhook_tests::app::{Act, App, NOW, SECRET, Tuning, block_on, custom, eventually, signed};
use webhook_tests::stores::{Postgres, Sqlite, Store};
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Captured {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

impl Captured {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

/// One test: the subscriber and the recorder are the process's.
#[test]
fn f14_no_secret_signature_body_or_error_text_comes_out() {
    let logs = Captured::default();
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_span_events(FmtSpan::FULL)
        .with_ansi(false)
        .with_writer(logs.clone())
        .init();
    let metrics = metrics_exporter_prometheus::PrometheusBuilder::new()
        .install_recorder()
        .unwrap();
    let tags = [attack::<Sqlite>(), attack::<Postgres>()];
    let (logs, metrics) = (logs.text(), metrics.render());
    for text in [&logs, &metrics] {
        let marks = ["canary", SECRET, "mark-of-a-body", "mark-of-a-header"];
        for canary in tags.iter().map(String::as_str).chain(marks) {
            assert!(
                !text.contains(canary),
                "{canary} in:\n{}",
                around(text, canary)
            );
        }
    }
    // They are not empty, either: every outcome provoked was told.
    for outcome in [
        "accepted",
        "duplicate",
        "signature_mismatch",
        "stale_authentic",
        "unknown_key",
        "malformed",
        "invalid_event",
        "too_large",
        "unsupported_media",
        "handler_failed",
    ] {
        assert!(
            metrics.contains(&format!("outcome=\"{outcome}\"")),
            "{outcome} in:\n{metrics}"
        );
        assert!(
            logs.contains(&format!("outcome=\"{outcome}\"")),
            "{outcome} in the spans"
        );
    }
    assert!(metrics.contains("webhook_attempts_total"));
    // Why, and by how much, for whoever has to find a drifted clock.
    assert!(logs.contains("signed 900 seconds before our clock"));
    let told = |line: &str| {
        line.contains("reason=signature does not match") && line.ends_with("delivery refused")
    };
    assert!(logs.lines().any(told), "no refusal at level DEBUG");
    assert!(metrics.contains("webhook_skew_seconds"));
    assert!(logs.contains("event_id=\"leak\"") && logs.contains("key_id=\"k1\""));
}

fn around<'t>(text: &'t str, canary: &str) -> &'t str {
    let at = text.find(canary).unwrap_or(0);
    text.get(at.saturating_sub(300)..(at + 100).min(text.len()))
        .unwrap_or(text)
}

/// What was sent and must not be seen again: the signature of it.
fn attack<S: Store>() -> String {
    let store = Arc::new(block_on(S::fresh()));
    let app = App::start(&store, Tuning::default());
    let mut answers = Vec::new();
    let mut send = |headers: &[(String, String)], body: &[u8]| {
        let answer = post(app.address, "/custom", headers, body);
        answers.push(format!("{answer:?}"));
        answer.status
    };
    app.script.plan("leak", [Act::Fail]);
    app.script.plan("inline", [Act::Fail]);
    let body = br#"{"id":"leak","type":"note.created","secret":"mark-of-a-body"}"#;
    let headers = signed("custom", &Timestamped, body, NOW);
    let tag = headers
        .last()
        .unwrap()
        .1
        .trim_start_matches("k1=")
        .to_owned();
    assert_eq!(send(&headers, body), 200);
    eventually("it failed, ran again and took effect", || {
        block_on(store.number("select count(*) from webhook.inbox where state = 'completed'")) == 1
    });
    assert_eq!(send(&headers, body), 200);
    let strange = |name: &str, value: &str| {
        let mut headers = headers.clone();
        headers.retain(|(own, _)| own != name);
        headers.push((name.to_owned(), value.to_owned()));
        headers
    };
    let signature = headers.last().unwrap().0.clone();
    send(&strange("X-Stray", "mark-of-a-header"), b"mark-of-a-body");
    send(&strange(&signature, "mark-of-a-header"), body);
    send(
        &strange(&signature, &format!("canary={}", "0".repeat(64))),
        body,
    );
    send(
        &strange(&signature, &format!("k1={}", "0".repeat(64))),
        body,
    );
    send(&strange("Content-Type", "mark/of-a-header"), body);
    send(&signed("custom", &Timestamped, body, NOW - 900), body);
    let invalid = b"mark-of-a-body";
    send(&signed("custom", &Timestamped, invalid, NOW), invalid);
    send(&headers, &vec![b'x'; 2 << 20]);
    let (inline, inline_body) = custom("inline", "credit.approved");
    assert_eq!(send(&inline, &inline_body), 503);
    let undecodable = br#"{"id":"strict","type":"note.strict","must_be_there":"mark-of-a-body"}"#;
    send(
        &signed("custom", &Timestamped, undecodable, NOW),
        undecodable,
    );
    eventually("it is dead", || {
        block_on(store.number("select count(*) from webhook.inbox where state = 'dead'")) == 1
    });
    app.stop();
    for answer in &answers {
        for canary in ["canary", "mark-of", &tag] {
            assert!(!answer.contains(canary), "{canary} in {answer}");
        }
    }
    let stored = "select count(*) from webhook.inbox where last_error like '%can' || 'ary%' or last_error like '%mark' || '-of%'";
    assert_eq!(block_on(store.number(stored)), 0);
    tag
}
