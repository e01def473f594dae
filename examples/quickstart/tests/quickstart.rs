//! The quickstart as a newcomer meets it, and as somebody with bad intentions does.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

#[path = "quickstart/probe.rs"]
mod probe;

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};

use webhook_actix::{
    Clock as _, DynProvider, KeyConfig, Keyring, SecretFormat, Signing, SystemClock,
};
use webhook_github::GitHub;
use webhook_slack::Slack;
use webhook_stripe::Stripe;
use webhook_tests::app::{block_on, eventually};
use webhook_tests::stores::{Postgres, Store as _};
use webhook_tests::wire::{Answer, post, raw};
use webhook_timestamped::Timestamped;

/// A running quickstart in a folder of its own, without any of our settings.
struct Quickstart {
    child: Child,
    address: SocketAddr,
    curl: Vec<String>,
    _output: std::thread::JoinHandle<()>,
}

struct Folder(PathBuf);

impl Folder {
    fn fresh(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("quickstart-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SETTINGS: [&str; 6] = [
    "DATABASE_URL",
    "STRIPE_WEBHOOK_SECRETS",
    "GITHUB_WEBHOOK_SECRETS",
    "SLACK_SIGNING_SECRETS",
    "CUSTOM_WEBHOOK_KEYS",
    "RUST_LOG",
];

fn command(folder: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quickstart"));
    for name in SETTINGS {
        command.env_remove(name);
    }
    command
        .current_dir(folder)
        .env("BIND", "127.0.0.1:0")
        .envs(settings.iter().copied());
    command
}

impl Quickstart {
    fn start(folder: &Path, settings: &[(&str, &str)]) -> Self {
        let mut child = command(folder, settings)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (mut address, mut curl) = (None, Vec::new());
        for line in lines.by_ref() {
            let line = line.unwrap();
            if let Some(found) = line.strip_prefix("listening on http://") {
                address = Some(found.parse().unwrap());
            } else if line.starts_with("curl ") {
                curl.push(line);
            } else if line.starts_with("Then look at") {
                break;
            }
        }
        // Nobody may be blocked by an unread pipe.
        let output = std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            address: address.unwrap(),
            curl,
            _output: output,
        }
    }

    fn get(&self, path: &str) -> Answer {
        raw(
            self.address,
            format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n").as_bytes(),
        )
    }

    fn count(&self, endpoint: &str, id: &str) -> String {
        let answer = self.get(&format!("/effects/{endpoint}/{id}"));
        assert_eq!(answer.status, 200);
        answer.body
    }

    /// Run a printed line as a shell would: only single quotes in it mean anything.
    fn paste(&self, line: &str) -> u16 {
        let words = shell_words(line);
        let url = words
            .iter()
            .find(|word| word.starts_with("http://"))
            .unwrap();
        let path = url.splitn(4, '/').nth(3).unwrap();
        let after = |flag: &'static str| {
            words
                .windows(2)
                .filter(move |pair| pair[0] == flag)
                .map(|pair| pair[1].clone())
        };
        let headers: Vec<_> = after("-H")
            .map(|header| {
                let (name, value) = header.split_once(": ").unwrap();
                (name.to_owned(), value.to_owned())
            })
            .collect();
        let body = after("--data-binary").next().unwrap();
        post(self.address, &format!("/{path}"), &headers, body.as_bytes()).status
    }
}

fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

impl Drop for Quickstart {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn now() -> i64 {
    SystemClock::default().unix_secs()
}

fn signed(provider: &dyn DynProvider, key: KeyConfig, body: &[u8]) -> Vec<(String, String)> {
    let keys = Keyring::build(SecretFormat::Text { prefix: "" }, [key]).unwrap();
    let headers = provider.sign(&Signing::new(&keys, body, now()));
    headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[test]
fn without_settings_every_printed_line_is_a_first_success() {
    let folder = Folder::fresh("first");
    let quickstart = Quickstart::start(&folder.0, &[]);
    assert_eq!(quickstart.curl.len(), 4);
    assert_eq!(quickstart.get("/healthz").status, 200);
    for line in &quickstart.curl {
        for _ in 0..2 {
            assert_eq!(quickstart.paste(line), 200, "{line}");
        }
    }
    eventually("four effects", || {
        quickstart
            .get("/effects")
            .body
            .matches("\"event_id\"")
            .count()
            == 4
    });
    for line in &quickstart.curl {
        assert_eq!(quickstart.paste(line), 200, "{line}");
    }
    let effects = quickstart.get("/effects").body;
    assert_eq!(effects.matches("\"event_id\"").count(), 4);
    for endpoint in ["stripe", "github", "slack", "custom"] {
        assert!(
            effects.contains(&format!("\"endpoint\":\"{endpoint}\"")),
            "{effects}"
        );
        assert_eq!(quickstart.count(endpoint, "unknown"), r#"{"count":0}"#);
    }
    assert_eq!(quickstart.get("/effects/nobody/x").status, 404);
    let metrics = quickstart.get("/metrics").body;
    for line in [
        "webhook_deliveries_total",
        "outcome=\"accepted\"",
        "outcome=\"duplicate\"",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert!(folder.0.join("quickstart.db").exists());
}

#[test]
fn settings_are_used_and_faults_stop_the_start_without_naming_a_secret() {
    let folder = Folder::fresh("settings");
    let settings = [
        (
            "STRIPE_WEBHOOK_SECRETS",
            "whsec_canary-active-1,whsec_canary-retiring",
        ),
        ("GITHUB_WEBHOOK_SECRETS", "canary-github-1"),
        ("SLACK_SIGNING_SECRETS", "canary-slack-secret"),
        (
            "CUSTOM_WEBHOOK_KEYS",
            "new=canary-custom-new,old=canary-custom-old",
        ),
    ];
    let quickstart = Quickstart::start(&folder.0, &settings);
    let note = |id: &str| format!(r#"{{"id":{id},"type":"note.created"}}"#).into_bytes();
    for (kid, secret, id, encoded) in [
        ("new", "canary-custom-new", r#""a/b c""#, "a%2Fb%20c"),
        ("old", "canary-custom-old", r#""%41ü""#, "%2541%C3%BC"),
    ] {
        let body = note(id);
        let headers = signed(&Timestamped, KeyConfig::new(secret).id(kid), &body);
        assert_eq!(
            post(quickstart.address, "/webhooks/custom", &headers, &body).status,
            200
        );
        eventually("it took effect", || {
            quickstart.count("custom", encoded) == r#"{"count":1}"#
        });
    }
    let stripe = br#"{"id":"evt_1","type":"invoice.paid","account":"acct_1","livemode":true,"data":{"object":{}}}"#;
    let retiring = signed(
        &Stripe::any_mode(),
        KeyConfig::new("whsec_canary-retiring"),
        stripe,
    );
    assert_eq!(
        post(quickstart.address, "/webhooks/stripe", &retiring, stripe).status,
        200
    );
    eventually("it took effect", || {
        quickstart.count("stripe", "evt_1") == r#"{"count":1}"#
    });
    let slack =
        br#"{"type":"event_callback","event_id":"Ev1","team_id":"T1","event":{"type":"message"}}"#;
    let headers = signed(&Slack, KeyConfig::new("canary-slack-secret"), slack);
    assert_eq!(
        post(quickstart.address, "/webhooks/slack", &headers, slack).status,
        200
    );
    eventually("it took effect", || {
        quickstart.count("slack", "Ev1") == r#"{"count":1}"#
    });
    let ping = br#"{"zen":"x","hook_id":1,"hook":{}}"#;
    let mut headers = signed(&GitHub, KeyConfig::new("canary-github-1"), ping);
    headers.push(("X-GitHub-Event".to_owned(), "ping".to_owned()));
    headers.push((
        "X-GitHub-Delivery".to_owned(),
        "72d3162e-cc78-11e3-81ab-4c9367dc0958".to_owned(),
    ));
    assert_eq!(
        post(quickstart.address, "/webhooks/github", &headers, ping).status,
        200
    );
    eventually("it took effect", || {
        quickstart.count("github", "72d3162e-cc78-11e3-81ab-4c9367dc0958") == r#"{"count":1}"#
    });
    drop(quickstart);
    for (name, value) in [
        ("STRIPE_WEBHOOK_SECRETS", ""),
        ("STRIPE_WEBHOOK_SECRETS", "   "),
        ("STRIPE_WEBHOOK_SECRETS", "whsec_"),
        ("STRIPE_WEBHOOK_SECRETS", "whsec_canary-active-1,"),
        (
            "STRIPE_WEBHOOK_SECRETS",
            "whsec_canary-active-1,whsec_canary-active-1",
        ),
        ("GITHUB_WEBHOOK_SECRETS", "canary-github-1\n"),
        (
            "SLACK_SIGNING_SECRETS",
            "canary-slack-secret,,canary-slack-other",
        ),
        ("CUSTOM_WEBHOOK_KEYS", "canary-custom-without-kid"),
        ("CUSTOM_WEBHOOK_KEYS", "a=canary-custom-1,a=canary-custom-2"),
        ("CUSTOM_WEBHOOK_KEYS", "a b=canary-custom-1"),
    ] {
        let ended = command(&folder.0, &[(name, value)]).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success(), "{name}={value:?}");
        assert!(
            said.contains(name) && !said.contains("canary"),
            "{name}={value:?}: {said}"
        );
    }
}

const KEY: (&str, &str) = ("CUSTOM_WEBHOOK_KEYS", "k1=0123456789abcdef0123456789abcdef");

fn custom(id: &str, event_type: &str, data: &str) -> (Vec<(String, String)>, Vec<u8>) {
    let body = format!(r#"{{"id":"{id}","type":"{event_type}","data":{data}}}"#).into_bytes();
    let key = KeyConfig::new("0123456789abcdef0123456789abcdef").id("k1");
    (signed(&Timestamped, key, &body), body)
}

fn two_processes_share_one_database(url: &str, folder: &Path) {
    let settings = [KEY, ("DATABASE_URL", url)];
    let processes = [
        Quickstart::start(folder, &settings),
        Quickstart::start(folder, &settings),
    ];
    for (id, event_type) in [("inbox", "note.created"), ("inline", "credit.approved")] {
        let (headers, body) = custom(id, event_type, "{}");
        let barrier = Arc::new(Barrier::new(50));
        let senders: Vec<_> = (0..50)
            .map(|copy| {
                let (headers, body, barrier) = (headers.clone(), body.clone(), barrier.clone());
                let address = processes[copy % 2].address;
                std::thread::spawn(move || {
                    barrier.wait();
                    post(address, "/webhooks/custom", &headers, &body).status
                })
            })
            .collect();
        let answers: Vec<_> = senders
            .into_iter()
            .map(|sender| sender.join().unwrap())
            .collect();
        assert!(
            answers.iter().all(|status| *status == 200),
            "{id}: {answers:?}"
        );
        eventually("one effect", || {
            processes[0].count("custom", id) == r#"{"count":1}"#
        });
    }
    for id in ["inbox", "inline"] {
        assert_eq!(processes[1].count("custom", id), r#"{"count":1}"#);
    }
}

#[test]
fn two_processes_on_one_sqlite_file_have_one_effect() {
    let folder = Folder::fresh("two");
    two_processes_share_one_database("sqlite://shared.db", &folder.0);
}

#[test]
fn two_processes_on_one_postgres_have_one_effect() {
    let folder = Folder::fresh("two-postgres");
    let store = block_on(Postgres::fresh());
    block_on(store.execute("drop table effect"));
    two_processes_share_one_database(&store.url(), &folder.0);
}

#[test]
fn a_killed_process_is_recovered_by_the_next_one() {
    let folder = Folder::fresh("killed");
    let (headers, body) = custom("slow", "demo.slow", r#"{"sleep_ms":1500}"#);
    let first = Quickstart::start(&folder.0, &[KEY]);
    assert_eq!(
        post(first.address, "/webhooks/custom", &headers, &body).status,
        200
    );
    std::thread::sleep(std::time::Duration::from_millis(700));
    drop(first); // SIGKILL
    let next = Quickstart::start(&folder.0, &[KEY]);
    assert_eq!(next.count("custom", "slow"), r#"{"count":0}"#);
    eventually("it ran after restart", || {
        next.count("custom", "slow") == r#"{"count":1}"#
    });
    assert_eq!(
        post(next.address, "/webhooks/custom", &headers, &body).status,
        200
    );
    assert_eq!(next.count("custom", "slow"), r#"{"count":1}"#);
}
