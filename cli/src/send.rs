//! `webhook send`: a signed event to an endpoint, once or many times at once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use url::Url;
use webhook_fixtures::Delivery;

use crate::client::{Answer, send};
use crate::event::{EventArgs, Prepared};
use crate::fault::Fault;
use crate::moment::parse_duration;
use crate::output::{Output, Tone, printable};

/// Most requests of one call.
const MAX_REPEAT: u32 = 100_000;
/// Most of an answer's body that is shown, in bytes.
const SHOWN_BYTES: usize = 2000;

/// Sign an event and send it to an endpoint.
///
/// With --repeat the very same request is sent again and again, as a provider's retries and an attacker's replays are: a good
/// receiver acts on it once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  webhook send stripe --secret-env STRIPE_SECRET --url http://localhost:8080/webhooks/stripe
  webhook send stripe payment_intent.succeeded --set /data/object/amount=2500 --secret-env S --url …
  webhook send github push --body captured.json --secret-file key --url …
  webhook send slack --at -10m --secret-env S --url …         a stale one: must be refused
  webhook send stripe --repeat 50 --concurrency 50 --secret-env S --url …      one effect, not fifty
  webhook send stripe --repeat 50 --fresh --secret-env S --url …               fifty events

Exit code 0 if every answer is 2xx, 1 if one is not, 3 if one did not come.")]
pub(crate) struct Send {
    #[command(flatten)]
    event: EventArgs,
    /// Send it this often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_REPEAT)))]
    repeat: u32,
    /// So many at once
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    concurrency: u16,
    /// Each time another event, under an id of its own
    #[arg(long, conflicts_with = "id")]
    fresh: bool,
    /// How long to wait for an answer
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    timeout: Duration,
}

impl Send {
    /// Run the command.
    ///
    /// # Errors
    ///
    /// As the exit codes say.
    pub(crate) async fn run(&self, output: &Output) -> Result<(), Fault> {
        let url = self.event.url.clone();
        let url = url.ok_or_else(|| Fault::usage("--url is missing: where to send it"))?;
        let prepared = self.event.prepare()?;
        let answers = self.send_all(&url, &prepared).await?;
        let failed = answers.iter().filter_map(|answer| answer.as_ref().err());
        let failed: Vec<&String> = failed.collect();
        let answered: Vec<&Answer> = answers.iter().filter_map(|one| one.as_ref().ok()).collect();
        let value = json!({
            "provider": self.event.provider,
            "event": prepared.event.event_type(),
            "id": prepared.event.event_id(),
            "url": url.as_str(),
            "answers": answered.iter().map(|answer| as_json(answer)).collect::<Vec<_>>(),
            "unanswered": failed,
        });
        output.show(&value, |output| {
            let mut text = format!(
                "{} {}{}\n",
                self.event.provider,
                prepared.event.event_type(),
                if self.fresh {
                    String::new()
                } else {
                    format!(", id {}", prepared.event.event_id())
                },
            );
            match answered.as_slice() {
                [only] if failed.is_empty() => text.push_str(&one(output, only)),
                many => text.push_str(&summary(output, many)),
            }
            text
        });
        if let Some(first) = failed.first() {
            return Err(Fault::unreachable(format!(
                "{} of {} requests were not answered; the first: {first}",
                failed.len(),
                answers.len()
            )));
        }
        let is_good = answered.iter().all(|answer| is_success(answer.status));
        if is_good {
            Ok(())
        } else {
            Err(Fault::Negative)
        }
    }

    async fn send_all(
        &self,
        url: &Url,
        prepared: &Prepared,
    ) -> Result<Vec<Result<Answer, String>>, Fault> {
        let places = Arc::new(Semaphore::new(self.concurrency.into()));
        let same = prepared.delivery();
        let mut running = JoinSet::new();
        for nth in 0..self.repeat {
            let delivery: Delivery = if self.fresh && nth > 0 {
                prepared.sign(&self.event.another(prepared)?)
            } else {
                same.clone()
            };
            let place = Arc::clone(&places).acquire_owned().await;
            let (url, patience) = (url.clone(), self.timeout);
            running.spawn(async move {
                let answer = send(&url, &delivery, patience).await;
                drop(place);
                answer
            });
        }
        let mut answers = Vec::new();
        while let Some(answer) = running.join_next().await {
            answers.push(answer.unwrap_or_else(|error| Err(error.to_string())));
        }
        Ok(answers)
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn as_json(answer: &Answer) -> Value {
    json!({
        "status": answer.status,
        "ms": u64::try_from(answer.took.as_millis()).unwrap_or(u64::MAX),
        "headers": answer.headers.iter().map(|(name, value)| json!([name, String::from_utf8_lossy(value)])).collect::<Vec<_>>(),
        "body": String::from_utf8_lossy(&answer.body),
    })
}

/// Status, time and body of one answer.
pub(crate) fn one(output: &Output, answer: &Answer) -> String {
    let shown = answer.body.get(..SHOWN_BYTES).unwrap_or(&answer.body);
    let more = answer.body.len().saturating_sub(shown.len());
    let more = if more == 0 {
        String::new()
    } else {
        format!("\n… {more} bytes more")
    };
    format!(
        "{} in {} ms\n{}{more}",
        painted(output, answer.status),
        answer.took.as_millis(),
        printable(shown)
    )
}

fn summary(output: &Output, answers: &[&Answer]) -> String {
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for answer in answers {
        let count = statuses.entry(answer.status).or_default();
        *count = count.saturating_add(1);
    }
    let mut times: Vec<u128> = answers
        .iter()
        .map(|answer| answer.took.as_millis())
        .collect();
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    let longest = times.last().copied().unwrap_or_default();
    let mut text = format!(
        "{} answers, median {middle} ms, longest {longest} ms\n",
        answers.len()
    );
    for (status, count) in statuses {
        let _ = writeln!(text, "  {}  {count} times", painted(output, status));
    }
    text
}

fn painted(output: &Output, status: u16) -> String {
    let tone = if is_success(status) {
        Tone::Good
    } else {
        Tone::Bad
    };
    output.paint(tone, &status.to_string())
}
