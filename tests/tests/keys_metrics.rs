//! What an operator sees of keys: traffic by key, reloads, keys past their end; and no tenant in any label.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::fmt::MakeWriter;
use webhook_actix::{
    BoxFuture, Endpoint, EventId, KeyConfig, KeyFault, KeyQuery, KeySource, Keyring, Keys, Lookups,
    SecretFormat, webhook,
};
use webhook_tests::app::{NOW, eventually};
use webhook_tests::stores::{Effects, Sqlite};
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

#[path = "keys/support.rs"]
mod support;

use support::{App, Mount, ring, secret_of, signed};

#[webhook(provider = Timestamped, event = "note.created")]
async fn on_note<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(id.as_str()).await
}

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

/// Every name that begins with `tenant-`; one key of its own id each.
#[derive(Debug)]
struct Tenants;

impl KeySource for Tenants {
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>> {
        Box::pin(async move {
            match query.tenant {
                Some(name) if name.starts_with("tenant-") => Ok(Arc::new(of_tenant(name))),
                _ => Err(KeyFault::Unknown),
            }
        })
    }
}

/// An active key and a retiring one.
fn of_tenant(name: &str) -> Keyring {
    let active = KeyConfig::new(secret_of(name)).id(format!("{name}-new"));
    let retiring = KeyConfig::new(secret_of(&format!("{name}-old"))).id(format!("{name}-old"));
    let keys = [active, retiring.retiring()];
    Keyring::build(SecretFormat::Text { prefix: "" }, keys).unwrap()
}

/// One test: the subscriber and the recorder are the process's.
#[test]
fn what_is_seen_of_keys() {
    let logs = Captured::default();
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(logs.clone())
        .init();
    let said = || String::from_utf8_lossy(&logs.0.lock().unwrap()).into_owned();
    let mount = Mount::new();
    for key in ["a", "b", "c"] {
        mount.write(key, &secret_of(key));
    }
    mount.write("a.retire_at", &NOW.to_string());
    mount.write("b.retire_at", &(NOW + 100).to_string());
    let keys = Keys::directory(mount.path(""));
    let app = App::<Sqlite>::start(|builder| {
        let patient = Lookups::default().timeout(Duration::from_secs(30));
        let tenants = Keys::source(Tenants).lookups(patient);
        builder
            .endpoint(Endpoint::at("/custom", Timestamped, keys).on(on_note))
            .endpoint(
                Endpoint::at("/t/{tenant}", Timestamped, tenants)
                    .named("tenants")
                    .on(on_note),
            )
    });
    eventually("a key past its end is reported at start", || {
        said().contains("keys=\"a\"")
    });
    // Only now: whoever measures need not come first.
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();

    by_key(&app, &metrics);
    reloads(&app, &mount, &metrics);
    tenants(&app, &metrics);

    assert!(said().contains("keys=\"a, b\""), "{}", said());
    let (said, measured) = (said(), metrics.render());
    for text in [&said, &measured] {
        assert!(!text.contains("secret-of"), "{text}");
    }
}

fn note(app: &App<Sqlite>, path: &str, id: &str, by: &Keyring) -> u16 {
    let body = format!(r#"{{"id":"{id}","type":"note.created"}}"#).into_bytes();
    let headers = signed(&Timestamped, by, &body, app.clock.now());
    post(app.address, path, &headers, &body).status
}

/// The value of a series.
#[track_caller]
fn expect(metrics: &PrometheusHandle, series: &str, value: u64) {
    let text = metrics.render();
    let line = format!("{series} {value}");
    assert!(text.lines().any(|own| own == line), "{line} in:\n{text}");
}

/// The traffic of a retiring key is seen to fall, and its refusals are seen too.
fn by_key(app: &App<Sqlite>, metrics: &PrometheusHandle) {
    let sent = |id: &str, key: &str| note(app, "/custom", id, &ring(key, &secret_of(key)));
    assert_eq!(sent("1", "b"), 200);
    assert_eq!(sent("2", "b"), 200);
    assert_eq!(sent("3", "c"), 200);
    assert_eq!(sent("4", "a"), 401);
    eventually("three took effect", || app.effects() == 3);
    expect(
        metrics,
        r#"webhook_attempts_total{endpoint="timestamped",handler="on_note",result="completed"}"#,
        3,
    );
    let verified = |key: &str, role: &str| {
        format!(r#"webhook_verified_total{{endpoint="timestamped",key="{key}",role="{role}"}}"#)
    };
    expect(metrics, &verified("b", "retiring"), 2);
    expect(metrics, &verified("c", "active"), 1);
    expect(
        metrics,
        r#"webhook_deliveries_total{endpoint="timestamped",provider="timestamped",outcome="unknown_key"}"#,
        1,
    );
    assert!(!metrics.render().contains(r#"key="a""#));
}

fn reloads(app: &App<Sqlite>, mount: &Mount, metrics: &PrometheusHandle) {
    let past_end = r#"webhook_keys_past_end{endpoint="timestamped"}"#;
    let reloads = |result: &str| {
        format!(r#"webhook_key_reloads_total{{endpoint="timestamped",result="{result}"}}"#)
    };
    app.reload().unwrap();
    expect(metrics, past_end, 1);
    app.clock.set(NOW + 100);
    app.reload().unwrap();
    expect(metrics, past_end, 2);
    mount.remove("a");
    app.reload().unwrap_err();
    let refused = metrics.render();
    assert!(refused.contains(&reloads("refused")), "{refused}");
    mount.remove("a.retire_at");
    app.reload().unwrap();
    expect(metrics, &reloads("adopted"), 1);
    expect(metrics, past_end, 1);
}

fn tenants(app: &App<Sqlite>, metrics: &PrometheusHandle) {
    for number in 0..40 {
        let name = format!("tenant-{number}");
        let path = format!("/t/{name}");
        let new = ring(&format!("{name}-new"), &secret_of(&name));
        let old = ring(&format!("{name}-old"), &secret_of(&format!("{name}-old")));
        assert_eq!(note(app, &path, &format!("{name}-1"), &new), 200);
        assert_eq!(note(app, &path, &format!("{name}-2"), &old), 200);
        let stranger = format!("/t/stranger-{number}");
        assert_eq!(note(app, &stranger, "x", &new), 401);
    }
    let verified = |role: &str| {
        format!(r#"webhook_verified_total{{endpoint="tenants",key="tenant",role="{role}"}}"#)
    };
    expect(metrics, &verified("active"), 40);
    expect(metrics, &verified("retiring"), 40);
    let lookups = |result: &str| {
        format!(r#"webhook_key_lookups_total{{endpoint="tenants",result="{result}"}}"#)
    };
    expect(metrics, &lookups("found"), 40);
    expect(metrics, &lookups("unknown"), 40);
    let text = metrics.render();
    assert!(
        !text.contains("tenant-") && !text.contains("stranger"),
        "{text}"
    );
}
