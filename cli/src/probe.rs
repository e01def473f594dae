//! `webhook probe`: an attack suite for an endpoint, in whatever language it is written.

use std::env;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use webhook_probe::{Bounds, Effects, Finding, Report, Target};

use crate::fault::Fault;
use crate::output::{Output, Tone, say_aside};
use crate::secret::SecretArgs;

/// Attack an endpoint with forgeries, replays, races and floods, and judge what it answers.
///
/// It sends what the provider sends and what an attacker would: some hundred requests and two large bodies, in one or two minutes.
/// Only to the URL given, to the one address it stood for at the beginning, without following redirects. It asks before it
/// sends anything to an address that is neither this machine's nor a private network's.
///
/// An answer is a promise, an effect is a fact: with --effects-url or --effects-cmd it counts them, and judges what answers
/// cannot show.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  webhook probe http://localhost:8080/webhooks/stripe --provider stripe --secret-env STRIPE_SECRET \\
      --effects-url 'http://localhost:8080/effects/stripe/{id}'
  webhook probe http://localhost:3000/hooks --provider github --secret-env S --effects-cmd 'psql -Atc \"select count(*) …\" -v id={id}'
  webhook probe … --only single-use --html report.html --junit report.xml

The counter of effects answers a number, {\"count\": n}, or a list; 404 is none.

Exit code 0 if it came to its end and every case that could be judged passed.")]
pub(crate) struct Probe {
    /// The endpoint's URL
    url: String,
    /// The provider whose deliveries it takes: `webhook events` lists them
    #[arg(long)]
    provider: String,
    /// The type of the events that are sent; one that has an effect [default: the provider's first fixture]
    #[arg(long, value_name = "TYPE")]
    event: Option<String>,
    /// The URL by which the provider knows the endpoint, where it is another. Some sign it
    #[arg(long, value_name = "URL")]
    registered_url: Option<String>,
    /// Count effects by a GET of this URL; `{id}` is the event's id
    #[arg(long, value_name = "URL", conflicts_with = "effects_cmd")]
    effects_url: Option<String>,
    /// Count effects by this line of the shell, which prints a number; `{id}` is the event's id as one quoted word
    #[arg(long, value_name = "COMMAND")]
    effects_cmd: Option<String>,
    /// Restart the receiver by this line of the shell, to see what it remembers
    #[arg(long, value_name = "COMMAND")]
    restart_cmd: Option<String>,
    /// A secret that the receiver no longer takes, in this environment variable
    #[arg(long, value_name = "NAME")]
    retired_secret_env: Vec<String>,
    /// Try only this group or case; may be repeated. `--only ?` names them all
    #[arg(long, value_name = "GROUP|CASE")]
    only: Vec<String>,
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    max_time: u64,
    /// Write a report for build servers, in `JUnit`'s XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a report for people: one page that needs nothing else and can be printed
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Do not ask before sending to an address of somebody else's
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    secrets: SecretArgs,
}

impl Probe {
    /// Run the command.
    ///
    /// # Errors
    ///
    /// [`Fault::Negative`] if a case failed or the run did not come to its end.
    pub(crate) async fn run(&self, output: &Output) -> Result<(), Fault> {
        let usage = |fault: &dyn std::error::Error| Fault::usage(fault.to_string());
        let target = Target::resolve(&self.url)
            .await
            .map_err(|fault| usage(&fault))?;
        let effects = self.effects();
        let counter = effects.target().await.map_err(|fault| usage(&fault))?;
        for target in [Some(&target), counter.as_ref()].into_iter().flatten() {
            self.must_be_allowed(target)?;
        }
        let mut probe = webhook_probe::Probe::new(target, self.provider.as_str())
            .effects(effects)
            .bounds(self.bounds());
        if let Some(event) = &self.event {
            probe = probe.event(event);
        }
        if let Some(url) = &self.registered_url {
            probe = probe.registered_url(url);
        }
        if let Some(command) = &self.restart_cmd {
            probe = probe.restart(command);
        }
        let secrets = self.secrets.read()?;
        for (nth, text) in secrets.texts().enumerate() {
            probe = probe.secret(text, secrets.key_ids().get(nth).cloned());
        }
        for name in &self.retired_secret_env {
            let text = env::var(name)
                .map_err(|_| Fault::usage(format!("the variable {name} is not set")))?;
            probe = probe.retired_secret(text);
        }
        probe = self.only.iter().fold(probe, webhook_probe::Probe::only);
        let is_watched = io::stderr().is_terminal();
        let report = probe
            .run(interrupted(), |finding| {
                if is_watched {
                    tell(output, finding);
                }
            })
            .await
            .map_err(|fault| usage(&fault))?;
        self.write(&report)?;
        output.show(&report.json(), |output| coloured(output, &report));
        if report.is_success() {
            Ok(())
        } else {
            Err(Fault::Negative)
        }
    }

    fn effects(&self) -> Effects {
        match (&self.effects_url, &self.effects_cmd) {
            (Some(url), _) => Effects::Url(url.clone()),
            (None, Some(command)) => Effects::Command(command.clone()),
            (None, None) => Effects::Unknown,
        }
    }

    fn bounds(&self) -> Bounds {
        let mut bounds = Bounds::default();
        bounds.total = Duration::from_secs(self.max_time);
        bounds
    }

    /// What is not ours is attacked only if somebody says so.
    fn must_be_allowed(&self, target: &Target) -> Result<(), Fault> {
        if self.yes || target.is_local() {
            return Ok(());
        }
        let address = target.address();
        let refused = || {
            Fault::usage(format!(
                "{address} is neither this machine's nor a private network's: nothing was sent. --yes says that you may attack it"
            ))
        };
        if !io::stdin().is_terminal() {
            return Err(refused());
        }
        let _ = write!(
            io::stderr().lock(),
            "{address} is neither this machine's nor a private network's. Some hundred attacks will be sent. May you do that? [y/N] "
        );
        let mut answer = String::new();
        let _ = io::stdin().read_line(&mut answer);
        if matches!(answer.trim(), "y" | "Y" | "yes") {
            Ok(())
        } else {
            Err(refused())
        }
    }

    fn write(&self, report: &Report) -> Result<(), Fault> {
        let write = |path: &Path, text: String| {
            fs::write(path, text)
                .map_err(|fault| Fault::usage(format!("{}: {fault}", path.display())))
        };
        if let Some(path) = &self.junit {
            write(path, report.junit())?;
        }
        if let Some(path) = &self.html {
            write(path, report.html())?;
        }
        Ok(())
    }
}

/// Ends at Ctrl-C: the report is partial then. A process that cannot hear it goes on.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn tell(output: &Output, finding: &Finding) {
    let name = format!("{}/{}", finding.group, finding.name);
    say_aside(&format!(
        "{} {name}",
        output.paint(Tone::Dim, finding.verdict.word())
    ));
}

fn coloured(output: &Output, report: &Report) -> String {
    let text = report.text();
    let lines = text.lines().map(|line| {
        let marks = [
            ("pass", Tone::Good),
            ("FAIL", Tone::Bad),
            ("?", Tone::Note),
            ("-", Tone::Dim),
        ];
        let mark = marks
            .iter()
            .find(|(mark, _)| line.trim_start().starts_with(&format!("{mark} ")));
        match mark {
            Some((mark, tone)) => line.replacen(mark, &output.paint(*tone, mark), 1),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
