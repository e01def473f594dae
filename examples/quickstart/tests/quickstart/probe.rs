//! Every endpoint under the probe's attacks, with effects counted and a restart in between.

use std::future::pending;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use webhook_probe::{Bounds, Effects, Probe, Target, Verdict, cases};

use crate::{Folder, SETTINGS};

const FIRST: &str = "whsec_quickstart-first-0123456789abcdef";
const SECOND: &str = "whsec_quickstart-second-0123456789abcdef";
const RETIRED: &str = "whsec_quickstart-retired-0123456789abcdef";

struct Endpoint {
    name: &'static str,
    /// What the probe calls it.
    provider: &'static str,
    /// One that has an effect.
    event: &'static str,
    /// Where its secrets are set. No two endpoints may have the same.
    secrets: &'static str,
}

const ENDPOINTS: [Endpoint; 4] = [
    Endpoint {
        name: "stripe",
        provider: "stripe",
        event: "payment_intent.succeeded",
        secrets: "STRIPE_WEBHOOK_SECRETS",
    },
    Endpoint {
        name: "github",
        provider: "github",
        event: "push",
        secrets: "GITHUB_WEBHOOK_SECRETS",
    },
    Endpoint {
        name: "slack",
        provider: "slack",
        event: "app_mention",
        secrets: "SLACK_SIGNING_SECRETS",
    },
    Endpoint {
        name: "custom",
        provider: "timestamped",
        event: "note.created",
        secrets: "CUSTOM_WEBHOOK_KEYS",
    },
];

/// Cases that no endpoint of these has, and why.
const NOWHERE: [&str; 1] = ["signed-id-changed"]; // Standard Webhooks and its kin sign an id in a header.

/// A quickstart that a line of the shell starts, and starts again.
struct Restartable {
    folder: Folder,
    port: u16,
}

impl Restartable {
    async fn start(endpoint: &Endpoint) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = Folder::fresh(&format!("probe-{}", endpoint.name));
        let restartable = Self { folder, port };
        let secrets = match endpoint.provider {
            "timestamped" => format!("one={FIRST},two={SECOND}"),
            _ => format!("{FIRST},{SECOND}"),
        };
        let settings = SETTINGS.map(|name| format!("unset {name}")).join("\n");
        let script = format!(
            "{settings}\ncd '{folder}'\n\
             if [ -e pid ]; then kill \"$(cat pid)\"; while kill -0 \"$(cat pid)\" 2>/dev/null; do sleep 0.05; done; fi\n\
             export BIND=127.0.0.1:{port} RUST_LOG=error\n\
             export {variable}={secrets}\n\
             '{program}' >log 2>&1 </dev/null &\necho $! >pid\n",
            folder = restartable.path().display(),
            variable = endpoint.secrets,
            program = env!("CARGO_BIN_EXE_quickstart"),
        );
        std::fs::write(restartable.path().join("restart.sh"), script).unwrap();
        let status = Command::new("/bin/sh")
            .arg(restartable.path().join("restart.sh"))
            .status();
        assert!(status.unwrap().success());
        for _ in 0..600 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .is_ok()
            {
                return restartable;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!(
            "{}",
            std::fs::read_to_string(restartable.path().join("log")).unwrap()
        );
    }

    fn path(&self) -> &Path {
        &self.folder.0
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Restartable {
    fn drop(&mut self) {
        let stop = "kill \"$(cat pid)\"";
        let _ = Command::new("/bin/sh")
            .args(["-c", stop])
            .current_dir(self.path())
            .status();
    }
}

async fn verdicts(endpoint: Endpoint) -> Vec<(&'static str, Verdict)> {
    let quickstart = Restartable::start(&endpoint).await;
    let Endpoint {
        name,
        provider,
        event,
        ..
    } = endpoint;
    let target = Target::resolve(&quickstart.url(&format!("/webhooks/{name}")))
        .await
        .unwrap();
    let id = |id: &str| (provider == "timestamped").then(|| id.to_owned());
    let mut bounds = Bounds::default();
    bounds.timing_rounds = 20;
    // A machine that is busy with other tests is no slow receiver.
    bounds.prompt = Duration::from_secs(10);
    bounds.settle = Duration::from_secs(20);
    let probe = Probe::new(target, provider)
        .event(event)
        .secret(FIRST, id("one"))
        .secret(SECOND, id("two"))
        .retired_secret(RETIRED)
        .effects(Effects::Url(
            quickstart.url(&format!("/effects/{name}/{{id}}")),
        ))
        .restart(format!(
            "sh '{}'",
            quickstart.path().join("restart.sh").display()
        ))
        .bounds(bounds);
    let report = probe.run(pending(), |_| {}).await.unwrap();
    assert!(report.is_success(), "{name}\n{}", report.text());
    report
        .findings
        .into_iter()
        .map(|finding| (finding.name, finding.verdict))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_endpoint_passes_every_case_with_effects_counted() {
    let runs = ENDPOINTS.map(|endpoint| tokio::spawn(verdicts(endpoint)));
    let mut all = Vec::new();
    for run in runs {
        all.extend(run.await.unwrap());
    }
    for (_, case) in cases() {
        let passed = all
            .iter()
            .any(|(name, verdict)| *name == case && *verdict == Verdict::Passed);
        // A difference in timing is an indication, and this machine may be noisy.
        let wanted = !NOWHERE.contains(&case);
        assert!(passed == wanted || case == "mismatch-timing", "{case}");
    }
}
