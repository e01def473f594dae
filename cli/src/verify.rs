//! `webhook verify`: whether a captured request is authentic and, if not, why.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use url::Url;

use crate::client::parse_url;
use crate::event::{find, read_bytes, split_header};
use crate::fault::Fault;
use crate::moment::{now, parse_time};
use crate::output::{Output, Tone};
use crate::secret::SecretArgs;
use crate::verify::explain::{Case, Explanation, Step, explain};

mod bodies;
mod capture;
pub(crate) mod explain;
mod json;
mod secrets;

pub(crate) use capture::Captured;

/// Explain, step by step, whether a captured request is authentic.
///
/// If its signature does not hold, everything that usually goes wrong is tried: bodies that were parsed and written again, line
/// ends, byte-order marks, wrong encodings of the secret, another URL. What matches is named. Secrets are never printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  webhook verify stripe --request dump.http --secret-env STRIPE_SECRET
  webhook verify github -H 'X-Hub-Signature-256: sha256=…' --body body.json --secret-file key
  webhook verify slack --headers headers.txt --body body.bin --secret-env S --at 2026-01-31T12:00:00Z

A request is `POST /path HTTP/1.1`, header fields, an empty line and the body, byte for byte. Files of header fields hold a field a
line, also as `curl -v` shows them, or a JSON object.

Exit code 0 if a receiver would take it, 1 if not.")]
pub(crate) struct Verify {
    /// The provider that is said to have sent it, or the file of a scheme, `acme.toml`
    provider: String,
    /// The whole request in one file, `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["headers", "body"], required_unless_present_any = ["headers", "header"])]
    request: Option<PathBuf>,
    /// A file of header fields
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,
    /// One header field
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// The raw body, `-` for standard input
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// The URL that it was sent to, as the provider knows it. Some sign it
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    url: Option<Url>,
    /// When it arrived: Unix seconds, RFC 3339, or a distance from now
    #[arg(long, value_name = "TIME", default_value = "now", value_parser = parse_time, allow_hyphen_values = true)]
    at: i64,
    #[command(flatten)]
    secrets: SecretArgs,
}

impl Verify {
    /// Run the command.
    ///
    /// # Errors
    ///
    /// [`Fault::Negative`] if a receiver would refuse the request.
    pub(crate) fn run(&self, output: &Output) -> Result<(), Fault> {
        let sender = find(&self.provider, self.url.as_ref())?;
        let secrets = self.secrets.read()?;
        let mut captured = self.captured()?;
        if let Some(url) = &self.url {
            captured.target = crate::client::target(url, None);
        }
        let explanation = explain(&Case {
            sender: &sender,
            url: self.url.as_ref(),
            captured: &captured,
            secrets: &secrets,
            at: self.at,
            is_now: self.at >= now().saturating_sub(2),
        });
        print(output, &self.provider, &explanation);
        if explanation.is_accepted() {
            Ok(())
        } else {
            Err(Fault::Negative)
        }
    }

    fn captured(&self) -> Result<Captured, Fault> {
        let mut captured = match &self.request {
            Some(path) => Captured::request(&read_bytes(path)?).map_err(Fault::Usage)?,
            None => Captured::default(),
        };
        if let Some(path) = &self.headers {
            let text = read_bytes(path)?;
            captured
                .headers
                .extend(capture::fields(&text).map_err(Fault::Usage)?);
        }
        for field in &self.header {
            let (name, value) = split_header(field)?;
            captured.headers.push((name, value.into_bytes()));
        }
        if let Some(path) = &self.body {
            captured.body = read_bytes(path)?;
        } else if self.request.is_none() {
            return Err(Fault::usage(
                "--body is missing: the raw body of the request",
            ));
        }
        Ok(captured)
    }
}

/// Print an explanation.
pub(crate) fn print(output: &Output, provider: &str, explanation: &Explanation) {
    let steps: Vec<_> = explanation
        .steps
        .iter()
        .map(|step| json!({"step": step.name, "verdict": step.verdict.as_str(), "text": step.text}))
        .collect();
    let value = json!({
        "provider": provider,
        "accepted": explanation.is_accepted(),
        "reason": explanation.reason.as_str(),
        "advice": explanation.advice,
        "steps": steps,
    });
    output.show(&value, |output| {
        let mut text = explanation
            .steps
            .iter()
            .map(|step| line(output, step))
            .collect::<String>();
        let reason = explanation.reason.as_str();
        let verdict = if explanation.is_accepted() {
            output.paint(Tone::Good, reason)
        } else {
            format!("{}: {reason}", output.paint(Tone::Bad, "refused"))
        };
        let _ = write!(text, "\n{verdict}");
        if !explanation.advice.is_empty() {
            let _ = write!(text, "\n{}", explanation.advice);
        }
        text
    });
}

fn line(output: &Output, step: &Step) -> String {
    let mark = output.paint(step.verdict.tone(), step.verdict.as_str());
    let pad = " ".repeat(4usize.saturating_sub(step.verdict.as_str().len()));
    format!("{mark}{pad}  {:10} {}\n", step.name, step.text)
}
