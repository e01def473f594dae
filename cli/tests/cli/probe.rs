//! `probe` against `listen`, which verifies and remembers nothing.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use webhook_fixtures::{Setup, names, sender};

use crate::run::{VAR, webhook};
use crate::send::{SECRET, listen, listen_for};

#[test]
fn a_probe_is_reported_in_every_form() {
    let listening = listen(&[]);
    let folder = std::env::temp_dir().join(format!("webhook-cli-probe-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (html, junit) = (folder.join("report.html"), folder.join("report.xml"));
    let ended = webhook([
        "probe",
        "--provider",
        "stripe",
        "--only",
        "authenticity",
        "--json",
    ])
    .arg(&listening.url)
    .arg("--html")
    .arg(&html)
    .arg("--junit")
    .arg(&junit)
    .secret(SECRET)
    .run();
    let report: Value = serde_json::from_slice(&ended.out).unwrap();
    assert_eq!(
        (ended.code, &report["success"]),
        (0, &Value::Bool(true)),
        "{report:#}"
    );
    assert_eq!(report["counts_effects"], false);
    let cases = report["cases"].as_array().unwrap();
    assert!(cases.len() > 15 && cases.iter().all(|case| case["group"] == "authenticity"));
    let (html, junit) = (
        fs::read_to_string(html).unwrap(),
        fs::read_to_string(junit).unwrap(),
    );
    assert!(html.starts_with("<!DOCTYPE html>") && junit.starts_with("<?xml"));
    for told in [&html, &junit, &report.to_string(), &ended.err] {
        assert!(!told.contains(SECRET));
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Forgeries of every provider that signs with a shared secret.
#[test]
fn every_providers_forgeries_are_refused() {
    let probed = std::thread::scope(|scope| {
        let runs = names().filter_map(|name| {
            let sender = sender(name, &Setup::default()).unwrap();
            let secret = sender.example_secret();
            let keys = sender.keyring([secret]).ok()?;
            // Others verify with one half of a pair and sign with the other.
            keys.ensure_signs().ok()?;
            Some(scope.spawn(move || forgeries(name, secret)))
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter()
            .map(|run| run.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(probed.len() > 15, "{probed:?}");
}

fn forgeries(name: &'static str, secret: &str) -> &'static str {
    let url = format!("https://shop.example/webhooks/{name}");
    let listening = listen_for(name, secret, &["--url", &url]);
    let groups = [
        "--only",
        "authenticity",
        "--only",
        "freshness",
        "--only",
        "raw-bytes",
        "--json",
    ];
    let call = groups.iter().fold(
        webhook(["probe", "--provider", name, "--registered-url", &url]),
        crate::run::Call::arg,
    );
    let ended = call
        .arg(format!(
            "{}/webhooks/{name}",
            listening.url.trim_end_matches('/')
        ))
        .secret(secret)
        .run();
    assert!(!ended.out.is_empty(), "{name}: {}", ended.err);
    let report: Value = serde_json::from_slice(&ended.out).unwrap();
    let cases = report["cases"].as_array().unwrap();
    let failed: Vec<_> = cases
        .iter()
        .filter(|case| case["verdict"] == "failed")
        .collect();
    assert!(
        ended.code == 0 && failed.is_empty(),
        "{name}: {} {failed:#?}",
        report["stopped"]
    );
    name
}

#[test]
fn what_is_not_ours_is_not_touched() {
    // Documentation's own address, RFC 5737: nobody would answer.
    let ended = webhook(["probe", "http://192.0.2.1/hook", "--provider", "stripe"])
        .secret(SECRET)
        .run();
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("nothing was sent"), "{}", ended.err);
}

#[test]
fn an_unknown_case_is_told_the_known_ones() {
    let ended = webhook([
        "probe",
        "http://127.0.0.1:9/",
        "--provider",
        "stripe",
        "--only",
        "?",
    ]);
    let ended = ended.secret(SECRET).run();
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("concurrent-50"), "{}", ended.err);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_partial_report() {
    let listening = listen(&[]);
    let mut command = webhook([
        "probe",
        "--provider",
        "stripe",
        "--only",
        "slow-body",
        "--json",
    ])
    .arg(&listening.url)
    .secret(SECRET)
    .command();
    let child = command
        .stdout(Stdio::piped())
        .env(VAR, SECRET)
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(3)); // well within the slow body
    let interrupt = format!("kill -INT {}", child.id());
    assert!(
        Command::new("/bin/sh")
            .args(["-c", &interrupt])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        report["stopped"].as_str().unwrap().contains("interrupted"),
        "{report:#}"
    );
}
