//! Receivers with one fault each: every one is caught by the cases that name its fault, and by no others.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod faults;
mod receiver;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use webhook_probe::{Bounds, Effects, Probe, Report, Target, Verdict, cases};

use crate::faults::{Beast, Fault, ZOO};
use crate::receiver::{ACTIVE, RETIRED, Receiver, SECOND};

fn bounds(beast: &Beast) -> Bounds {
    let mut bounds = Bounds::default();
    bounds.flood_bytes = 16 * 1024 * 1024;
    bounds.slow_body = Duration::from_secs(3);
    bounds.timing_rounds = 10;
    bounds.quiet = Duration::from_millis(150);
    // A machine that is busy with other tests is no slow receiver.
    bounds.prompt = match beast.fault {
        Some(Fault::AcknowledgesLate) => Duration::from_millis(300),
        _ => Duration::from_secs(10),
    };
    bounds
}

async fn probe(beast: &Beast) -> Probe {
    let receiver = Receiver::start(beast.provider, beast.fault).await;
    let target = Target::resolve(&receiver.url("/hook")).await.unwrap();
    Probe::new(target, beast.provider)
        .secret(ACTIVE, None)
        .secret(SECOND, None)
        .retired_secret(RETIRED)
        .effects(Effects::Url(receiver.url("/effects/{id}")))
        .restart(receiver.restart_command())
        .bounds(bounds(beast))
}

async fn report(beast: &Beast) -> Report {
    probe(beast).await.run(pending(), |_| {}).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_fault_is_caught_by_its_own_cases_and_by_no_others() {
    let places = Arc::new(Semaphore::new(16));
    let mut runs = JoinSet::new();
    for beast in ZOO {
        let places = Arc::clone(&places);
        runs.spawn(async move {
            let _place = places.acquire().await.unwrap();
            (beast, report(beast).await)
        });
    }
    let mut wrong = Vec::new();
    while let Some(run) = runs.join_next().await {
        let (beast, report) = run.unwrap();
        let failed = report
            .findings
            .iter()
            .filter(|finding| finding.verdict.is_failed());
        let mut caught: Vec<&str> = failed.map(|finding| finding.name).collect();
        let mut wanted = beast.caught_by.to_vec();
        caught.sort_unstable();
        wanted.sort_unstable();
        if caught != wanted || report.stopped.is_some() {
            wrong.push(format!(
                "{:?} of {}: wanted {wanted:?}\n{}",
                beast.fault,
                beast.provider,
                report.text()
            ));
        }
        assert_eq!(
            report.is_success(),
            beast.caught_by.is_empty() && report.stopped.is_none()
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_case_catches_somebody() {
    // What no beast has: a fault that needs another provider, or one that is only an indication.
    let elsewhere = ["unknown-key-id", "signed-id-changed", "mismatch-timing"];
    for (_, name) in cases() {
        let is_caught = ZOO.iter().any(|beast| beast.caught_by.contains(&name));
        assert!(is_caught != elsewhere.contains(&name), "{name}");
    }
    for beast in ZOO {
        for name in beast.caught_by {
            assert!(cases().any(|(_, case)| case == *name), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_that_stops_early_is_indicated_and_never_failed() {
    let beast = Beast {
        fault: Some(Fault::ComparesByteByByte),
        provider: "stripe",
        caught_by: &[],
    };
    let mut bounds = bounds(&beast);
    bounds.timing_rounds = 30;
    let probe = probe(&beast).await.bounds(bounds).only("mismatch-timing");
    let report = probe.run(pending(), |_| {}).await.unwrap();
    let Verdict::NotJudged(why) = &report.findings[0].verdict else {
        panic!("{}", report.text());
    };
    assert!(why.contains("p = 0.000"), "{why}");
    assert!(report.is_success());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_effects_it_says_what_it_cannot_say() {
    let beast = Beast {
        fault: Some(Fault::NeverRemembers),
        provider: "stripe",
        caught_by: &[],
    };
    let probe = probe(&beast)
        .await
        .effects(Effects::Unknown)
        .only("single-use");
    let report = probe.run(pending(), |_| {}).await.unwrap();
    let verdict = |name: &str| {
        &report
            .findings
            .iter()
            .find(|finding| finding.name == name)
            .unwrap()
            .verdict
    };
    for name in ["replay", "retry", "concurrent-50", "same-id-other-content"] {
        assert!(matches!(verdict(name), Verdict::NotJudged(_)), "{name}");
    }
    assert_eq!(verdict("forgery-before"), &Verdict::Passed);
    assert!(report.text().contains("Effects were not counted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_means_nothing_is_none() {
    let safe = Beast {
        fault: None,
        provider: "stripe",
        caught_by: &[],
    };
    let receiver = Receiver::start("stripe", None).await;
    let target = || async { Target::resolve(&receiver.url("/hook")).await.unwrap() };
    let stopped = |report: Report| {
        assert!(!report.is_success() && report.findings.is_empty());
        report.stopped.unwrap()
    };

    let wrong_secret =
        Probe::new(target().await, "stripe").secret("whsec_not-this-one-0123456789", None);
    let why = stopped(wrong_secret.run(pending(), |_| {}).await.unwrap());
    assert!(
        why.contains("401") && why.contains("another secret"),
        "{why}"
    );

    let elsewhere = Target::resolve(&receiver.url("/nothing")).await.unwrap();
    let why = stopped(
        Probe::new(elsewhere, "stripe")
            .secret(ACTIVE, None)
            .run(pending(), |_| {})
            .await
            .unwrap(),
    );
    assert!(why.contains("404") && why.contains("path"), "{why}");

    let uncounted = Probe::new(target().await, "stripe")
        .secret(ACTIVE, None)
        .bounds({
            let mut bounds = bounds(&safe);
            bounds.settle = Duration::from_millis(200);
            bounds
        });
    let uncounted = uncounted.effects(Effects::Command("echo 0 # {id}".to_owned()));
    let why = stopped(uncounted.run(pending(), |_| {}).await.unwrap());
    assert!(why.contains("no effect"), "{why}");

    let gone = Target::resolve("http://127.0.0.1:9/").await.unwrap();
    let why = stopped(
        Probe::new(gone, "stripe")
            .secret(ACTIVE, None)
            .run(pending(), |_| {})
            .await
            .unwrap(),
    );
    assert!(why.contains("no connection"), "{why}");

    for (provider, only) in [("nobody", "limits"), ("stripe", "nothing")] {
        let probe = Probe::new(target().await, provider)
            .secret(ACTIVE, None)
            .only(only);
        assert!(probe.run(pending(), |_| {}).await.is_err());
    }
    assert!(
        Probe::new(target().await, "stripe")
            .run(pending(), |_| {})
            .await
            .is_err()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_reports_what_it_found() {
    let safe = Beast {
        fault: None,
        provider: "stripe",
        caught_by: &[],
    };
    let (seen, mut at_first) = tokio::sync::mpsc::unbounded_channel();
    let stop = async move {
        at_first.recv().await;
    };
    let report = probe(&safe)
        .await
        .run(stop, |finding| seen.send(finding.name).unwrap_or_default())
        .await
        .unwrap();
    assert!(
        report
            .stopped
            .as_deref()
            .is_some_and(|why| why.contains("interrupted"))
    );
    assert!(!report.findings.is_empty() && !report.is_success());
    assert!(report.findings.len() < cases().count());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_told() {
    let beast = Beast {
        fault: Some(Fault::TellsReasons),
        provider: "stripe",
        caught_by: &[],
    };
    let probe = probe(&beast).await;
    let shown = format!("{probe:?}");
    let report = probe.run(pending(), |_| {}).await.unwrap();
    for told in [
        shown,
        report.text(),
        report.json().to_string(),
        report.junit(),
        report.html(),
        format!("{report:?}"),
    ] {
        for secret in [ACTIVE, SECOND, RETIRED] {
            assert!(!told.contains(secret));
        }
    }
}
