//! `webhook inbox`: what an operator does with a ledger.

use std::env;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use webhook_core::ledger::{
    CheckVerdict, Found, IdentityRetention, Pruned, QuarantineId, Quarantined, Release, Replay,
    Replayable, Retention, Search,
};
use webhook_core::{InboxId, State};

use crate::fault::Fault;
use crate::ledger::{Ledger, LedgerArgs};
use crate::moment::{parse_duration, show_time};
use crate::output::{Output, Tone, printable, say_aside, table};

/// Look into a ledger: stored events, quarantine, health; run events again, decide on quarantine, prune.
///
/// Nothing is migrated. Who decided is recorded with every decision.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  webhook inbox --ledger sqlite://app.db ls --state dead
  webhook inbox --ledger postgres://db/app show 0197…
  webhook inbox replay 0197…                              with WEBHOOK_LEDGER set
  webhook inbox replay --ignored --endpoint stripe --type invoice.paid
  webhook inbox ls --quarantine
  webhook inbox release 0197… --yes
  webhook inbox doctor")]
pub(crate) struct Inbox {
    #[command(flatten)]
    ledger: LedgerArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Decide that quarantined deliveries never run
    Discard(Decide),
    /// Check that the store keeps what the library promises: durability, schema, clock, abandoned endpoints
    ///
    /// Exit code 1 if it does not.
    Doctor,
    /// List stored events, or what is in quarantine
    Ls(Ls),
    /// Drop payloads past their age; identities only where an age is given
    Prune(Prune),
    /// Let quarantined deliveries run, each as an event of its own, once
    ///
    /// Their effect then happens beside that of the event they collided with.
    Release(Decide),
    /// Let dead or ignored events run again, with all of their attempts
    Replay(ReplayArgs),
    /// Show one event, or one delivery in quarantine
    Show {
        /// The row's id, as `ls` prints it
        #[arg(value_parser = parse_id)]
        id: Id,
    },
}

#[derive(Debug, Args)]
struct Ls {
    /// What is in quarantine and not decided on
    #[arg(long, conflicts_with_all = ["state", "event_type", "id"])]
    quarantine: bool,
    /// Only of this endpoint
    #[arg(long)]
    endpoint: Option<String>,
    /// Only in this state: completed, dead, ignored, pending or processing
    #[arg(long, value_parser = parse_state)]
    state: Option<State>,
    /// Only of this type
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// Only with this event id
    #[arg(long)]
    id: Option<String>,
    /// Only behind this row, for paging
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    after: Option<Id>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

#[derive(Debug, Args)]
struct Decide {
    /// Rows, as `ls --quarantine` prints them
    #[arg(required = true, value_parser = parse_id)]
    ids: Vec<Id>,
    #[command(flatten)]
    sure: Sure,
}

#[derive(Debug, Args)]
struct ReplayArgs {
    /// Rows, as `ls` prints them
    #[arg(value_parser = parse_id, required_unless_present = "ignored", conflicts_with = "ignored")]
    ids: Vec<Id>,
    /// Completed ones, too: their effect then happens twice
    #[arg(long)]
    even_completed: bool,
    /// All ignored events of an endpoint and some types, now that there is a handler
    #[arg(long, requires = "endpoint", requires = "types")]
    ignored: bool,
    /// With --ignored: the endpoint
    #[arg(long)]
    endpoint: Option<String>,
    /// With --ignored: the types
    #[arg(long = "type", id = "types", value_name = "TYPE")]
    types: Vec<String>,
    #[command(flatten)]
    sure: Sure,
}

#[derive(Debug, Args)]
struct Prune {
    /// The endpoint
    #[arg(long)]
    endpoint: String,
    /// Drop payloads of completed events that were settled longer ago
    #[arg(long, value_name = "AGE", default_value = "7d", value_parser = parse_duration)]
    completed_payloads: Duration,
    /// Drop payloads of dead and ignored events, and of decided quarantine, that were settled longer ago
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = parse_duration)]
    other_payloads: Duration,
    /// Forget completed events last seen longer ago. Safe only where the provider signs a timestamp and this is longer than its
    /// redeliveries and the window last: what is forgotten can run once more [default: none are forgotten]
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    identities: Option<Duration>,
    #[command(flatten)]
    sure: Sure,
}

#[derive(Debug, Args)]
struct Sure {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Who decides, for the record [default: the user's name]
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
}

/// A row's id: 32 hex digits.
#[derive(Debug, Clone, Copy)]
struct Id([u8; 16]);

impl Inbox {
    /// Run the command.
    ///
    /// # Errors
    ///
    /// As the exit codes say.
    pub(crate) async fn run(&self, output: &Output) -> Result<(), Fault> {
        let ledger = self.ledger.open().await?;
        let outcome = match &self.command {
            Command::Discard(decide) => discard(output, &ledger, decide).await,
            Command::Doctor => doctor(output, &ledger).await,
            Command::Ls(ls) if ls.quarantine => list_quarantine(output, &ledger, ls).await,
            Command::Ls(ls) => list(output, &ledger, ls).await,
            Command::Prune(what) => prune(output, &ledger, what).await,
            Command::Release(decide) => release(output, &ledger, decide).await,
            Command::Replay(what) => replay(output, &ledger, what).await,
            Command::Show { id } => show(output, &ledger, *id).await,
        };
        ledger.close().await;
        outcome
    }
}

async fn list(output: &Output, ledger: &Ledger, ls: &Ls) -> Result<(), Fault> {
    let mut search = Search::default().limit(ls.limit);
    search.endpoint = ls.endpoint.as_deref().map(Into::into);
    search.state = ls.state;
    search.event_type.clone_from(&ls.event_type);
    search.event_id.clone_from(&ls.id);
    search.after = ls.after.map(|id| InboxId::from_bytes(id.0));
    let found = ledger.find(search).await?;
    let value = found.iter().map(event_json).collect::<Value>();
    output.show(&value, |_| {
        let mut rows = vec![
            [
                "ID", "ENDPOINT", "STATE", "TYPE", "EVENT", "FAILED", "RECEIVED",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        for event in &found {
            rows.push(vec![
                event.inbox.to_string(),
                printable(event.endpoint.as_bytes()),
                event.state.as_str().to_owned(),
                printable(event.event_type.as_bytes()),
                printable(event.event_id.as_bytes()),
                event.failures.to_string(),
                show_time(event.received_at),
            ]);
        }
        table(&rows)
    });
    full_page(found.len(), ls.limit);
    Ok(())
}

async fn list_quarantine(output: &Output, ledger: &Ledger, ls: &Ls) -> Result<(), Fault> {
    let after = ls.after.map(|id| QuarantineId::from_bytes(id.0));
    let found = ledger
        .quarantined(ls.endpoint.as_deref(), after, ls.limit)
        .await?;
    let value = found.iter().map(quarantined_json).collect::<Value>();
    output.show(&value, |_| {
        let mut rows = vec![
            [
                "ID",
                "ENDPOINT",
                "REASON",
                "TYPE",
                "EVENT",
                "SEEN",
                "LAST SEEN",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        for one in &found {
            rows.push(vec![
                one.id.to_string(),
                printable(one.endpoint.as_bytes()),
                one.reason.as_str().to_owned(),
                printable(one.event_type.as_bytes()),
                printable(one.event_id.as_bytes()),
                one.seen.to_string(),
                show_time(one.last_seen_at),
            ]);
        }
        table(&rows)
    });
    full_page(found.len(), ls.limit);
    Ok(())
}

fn full_page(rows: usize, limit: u32) {
    if rows > 0 && u32::try_from(rows) == Ok(limit) {
        say_aside("there may be more: --after with the last id, or a greater --limit");
    }
}

async fn show(output: &Output, ledger: &Ledger, id: Id) -> Result<(), Fault> {
    // Rows are listed in the order of their ids: the one behind the id before this is this, if there is one.
    let before = u128::from_be_bytes(id.0)
        .checked_sub(1)
        .map(u128::to_be_bytes);
    let mut search = Search::default().limit(1);
    search.after = before.map(InboxId::from_bytes);
    let event = ledger.find(search).await?.into_iter().next();
    if let Some(event) = event.filter(|event| event.inbox.as_bytes() == &id.0) {
        let value = event_json(&event);
        output.show(&value, |_| fields(&value));
        return Ok(());
    }
    let before = before.map(QuarantineId::from_bytes);
    let one = ledger
        .quarantined(None, before, 1)
        .await?
        .into_iter()
        .next();
    if let Some(one) = one.filter(|one| one.id.as_bytes() == &id.0) {
        let value = quarantined_json(&one);
        output.show(&value, |_| fields(&value));
        return Ok(());
    }
    let value = json!({"id": InboxId::from_bytes(id.0).to_string(), "found": false});
    output.show(&value, |_| {
        "no stored event and no undecided delivery has this id".to_owned()
    });
    Err(Fault::Negative)
}

/// A JSON object as lines.
fn fields(value: &Value) -> String {
    let members = value.as_object().into_iter().flatten();
    let rows: Vec<Vec<String>> = members
        .map(|(name, value)| {
            let text = match value {
                Value::String(text) => printable(text.as_bytes()),
                Value::Null => "-".to_owned(),
                other => other.to_string(),
            };
            vec![name.clone(), text]
        })
        .collect();
    table(&rows)
}

async fn replay(output: &Output, ledger: &Ledger, what: &ReplayArgs) -> Result<(), Fault> {
    let actor = what.sure.actor();
    if what.ignored {
        let endpoint = what.endpoint.as_deref().unwrap_or_default();
        let count = ledger.replay_ignored(endpoint, &what.types, &actor).await?;
        output.show(&json!({"replayed": count}), |_| {
            format!("{count} events wait for their turn")
        });
        return Ok(());
    }
    let which = if what.even_completed {
        what.sure
            .ask("Completed events take effect a second time. Go on?")?;
        Replayable::EvenCompleted
    } else {
        Replayable::Unfinished
    };
    let mut told = Told::default();
    for id in &what.ids {
        let id = InboxId::from_bytes(id.0);
        let (is_good, words) = match ledger.replay(id, &actor, which).await? {
            Replay::Waiting => (true, "waits for its turn".to_owned()),
            Replay::Refused(state) => (false, format!("is {}: not replayed", state.as_str())),
            Replay::Unknown => (false, "is not there".to_owned()),
            Replay::NoPayload => (false, "has lost its payload".to_owned()),
            _ => (false, "was not replayed".to_owned()),
        };
        told.push(id.to_string(), is_good, words);
    }
    told.show(output)
}

async fn release(output: &Output, ledger: &Ledger, decide: &Decide) -> Result<(), Fault> {
    decide
        .sure
        .ask("Each takes effect beside the event it collided with. Go on?")?;
    let actor = decide.sure.actor();
    let mut told = Told::default();
    for id in &decide.ids {
        let id = QuarantineId::from_bytes(id.0);
        let (is_good, words) = match ledger.release(id, &actor).await? {
            Release::Released(event) => (true, format!("waits for its turn as event {event}")),
            Release::Settled => (false, "is not there, or was decided on before".to_owned()),
            Release::NoPayload => (false, "has lost its payload".to_owned()),
            _ => (false, "was not released".to_owned()),
        };
        told.push(id.to_string(), is_good, words);
    }
    told.show(output)
}

async fn discard(output: &Output, ledger: &Ledger, decide: &Decide) -> Result<(), Fault> {
    decide.sure.ask("They will never run. Go on?")?;
    let actor = decide.sure.actor();
    let mut told = Told::default();
    for id in &decide.ids {
        let id = QuarantineId::from_bytes(id.0);
        let is_good = ledger.discard(id, &actor).await?;
        let words = if is_good {
            "is discarded"
        } else {
            "is not there, or was decided on before"
        };
        told.push(id.to_string(), is_good, words.to_owned());
    }
    told.show(output)
}

async fn prune(output: &Output, ledger: &Ledger, what: &Prune) -> Result<(), Fault> {
    what.sure.ask("What is dropped is gone. Go on?")?;
    let identities = what
        .identities
        .map_or(IdentityRetention::Forever, IdentityRetention::For);
    let retention = Retention::new(what.endpoint.as_str(), identities)
        .payloads(what.completed_payloads, what.other_payloads);
    let mut sum = Pruned::default();
    loop {
        let pruned = ledger.prune(retention.clone()).await?;
        if pruned.is_nothing() {
            break;
        }
        sum.payloads = sum.payloads.saturating_add(pruned.payloads);
        sum.buried = sum.buried.saturating_add(pruned.buried);
        sum.forgotten = sum.forgotten.saturating_add(pruned.forgotten);
        sum.decisions = sum.decisions.saturating_add(pruned.decisions);
    }
    let value = json!({
        "payloads": sum.payloads,
        "buried": sum.buried,
        "forgotten": sum.forgotten,
        "decisions": sum.decisions,
    });
    output.show(&value, |_| {
        format!(
            "dropped {} payloads, forgot {} events and {} decisions",
            sum.payloads, sum.forgotten, sum.decisions
        )
    });
    Ok(())
}

async fn doctor(output: &Output, ledger: &Ledger) -> Result<(), Fault> {
    let checks = ledger.check().await;
    let worst = checks.iter().map(|check| check.verdict).max();
    let word = |verdict| match verdict {
        CheckVerdict::Good => ("good", Tone::Good),
        CheckVerdict::Warning => ("warning", Tone::Note),
        CheckVerdict::Bad => ("bad", Tone::Bad),
    };
    let is_ready = worst != Some(CheckVerdict::Bad);
    let value = json!({
        "ready": is_ready,
        "checks": checks.iter().map(|check| json!({"name": check.name, "verdict": word(check.verdict).0, "detail": check.detail})).collect::<Value>(),
    });
    output.show(&value, |output| {
        checks.iter().fold(String::new(), |text, check| {
            let (word, tone) = word(check.verdict);
            let mark = output.paint(tone, &format!("{word:7}"));
            format!(
                "{text}{mark}  {:18} {}\n",
                check.name,
                printable(check.detail.as_bytes())
            )
        })
    });
    if is_ready {
        Ok(())
    } else {
        Err(Fault::Negative)
    }
}

impl Sure {
    /// Ask, unless that was answered already.
    ///
    /// # Errors
    ///
    /// No, or nobody to ask.
    fn ask(&self, question: &str) -> Result<(), Fault> {
        if self.yes {
            return Ok(());
        }
        if !io::stdin().is_terminal() {
            return Err(Fault::usage(format!(
                "{question} Nobody is there to ask: say --yes"
            )));
        }
        eprint!("{question} [y/N] ");
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        match answer.trim() {
            "y" | "Y" | "yes" if read.is_ok() => Ok(()),
            _ => Err(Fault::usage("nothing was done")),
        }
    }

    fn actor(&self) -> String {
        let user = || env::var("USER").unwrap_or_else(|_| "webhook-cli".to_owned());
        self.actor.clone().unwrap_or_else(user)
    }
}

/// What became of each row.
#[derive(Default)]
struct Told {
    rows: Vec<(String, bool, String)>,
}

impl Told {
    fn push(&mut self, id: String, is_good: bool, words: String) {
        self.rows.push((id, is_good, words));
    }

    fn show(self, output: &Output) -> Result<(), Fault> {
        let rows = self.rows.iter();
        let value = rows
            .map(|(id, done, words)| json!({"id": id, "done": done, "text": words}))
            .collect::<Value>();
        output.show(&value, |output| {
            self.rows
                .iter()
                .fold(String::new(), |text, (id, is_good, words)| {
                    let tone = if *is_good { Tone::Good } else { Tone::Bad };
                    format!("{text}{id} {}\n", output.paint(tone, words))
                })
        });
        if self.rows.iter().all(|(_, is_good, _)| *is_good) {
            Ok(())
        } else {
            Err(Fault::Negative)
        }
    }
}

fn event_json(event: &Found) -> Value {
    json!({
        "id": event.inbox.to_string(),
        "endpoint": event.endpoint,
        "event_id": event.event_id,
        "type": event.event_type,
        "account": event.account,
        "state": event.state.as_str(),
        "failures": event.failures,
        "crashes": event.crashes,
        "last_error": event.last_error,
        "received_at": show_time(event.received_at),
    })
}

fn quarantined_json(one: &Quarantined) -> Value {
    json!({
        "id": one.id.to_string(),
        "endpoint": one.endpoint,
        "reason": one.reason.as_str(),
        "event_id": one.event_id,
        "type": one.event_type,
        "account": one.account,
        "digest": one.digest.to_string(),
        "first": one.first.map(|id| id.to_string()),
        "first_digest": one.first_digest.map(|digest| digest.to_string()),
        "seen": one.seen,
        "first_seen_at": show_time(one.first_seen_at),
        "last_seen_at": show_time(one.last_seen_at),
    })
}

fn parse_state(text: &str) -> Result<State, String> {
    let all = [
        State::Completed,
        State::Dead,
        State::Ignored,
        State::Pending,
        State::Processing,
    ];
    let mut all = all.into_iter();
    all.find(|state| state.as_str() == text)
        .ok_or_else(|| "expected completed, dead, ignored, pending or processing".to_owned())
}

fn parse_id(text: &str) -> Result<Id, String> {
    let digits = text.replace('-', "");
    let number = u128::from_str_radix(&digits, 16).ok();
    number
        .filter(|_| digits.len() == 32 && !digits.starts_with('+'))
        .map(|number| Id(number.to_be_bytes()))
        .ok_or_else(|| "expected 32 hex digits, as `ls` prints them".to_owned())
}
