//! A run: a genuine delivery first, then group after group, and a genuine one behind each.

use std::pin::{Pin, pin};
use std::time::Duration;

use tokio::time::Instant;
use webhook_core::{Clock as _, TimestampForm};
use webhook_fixtures::Mutation;

use crate::case::{Case, Forged, Group, Play, Verdict};
use crate::client::{Answer, End};
use crate::judge::{accepted, refused};
use crate::probe::{CannotProbe, Probe};
use crate::report::{Finding, Report};
use crate::stage::{Scenery, Stage, Watched};

impl Probe {
    /// Try everything, and report.
    ///
    /// `seen` is called with each finding as soon as it is one. When `stop` ends, so does the run: the report holds what was
    /// found until then and says that it is partial.
    ///
    /// # Errors
    ///
    /// [`CannotProbe`], before anything is sent.
    pub async fn run(
        self,
        stop: impl Future<Output = ()>,
        mut seen: impl FnMut(&Finding),
    ) -> Result<Report, CannotProbe> {
        let (scenery, cases) = self.prepare()?;
        let now = scenery.clock.unix_secs();
        let mut report = Report {
            url: scenery.client.target().url().to_owned(),
            provider: scenery.sender.name().to_owned(),
            began: TimestampForm::Rfc3339.write(now),
            took: Duration::ZERO,
            counts_effects: scenery.effects.are_known(),
            findings: Vec::new(),
            stopped: None,
        };
        let began = Instant::now();
        let total = scenery.bounds.total;
        let stop = pin!(async {
            tokio::select! {
                () = stop => "it was interrupted".to_owned(),
                () = tokio::time::sleep(total) => format!("its {} s were over", total.as_secs()),
            }
        });
        let why = play(&scenery, &cases, stop, &mut |finding: Finding| {
            seen(&finding);
            report.findings.push(finding);
        })
        .await;
        report.took = began.elapsed();
        report.stopped = why.err();
        Ok(report)
    }
}

/// Play all groups. `Err`: why it ended before the end.
async fn play(
    scenery: &Scenery,
    cases: &[&'static Case],
    mut stop: Pin<&mut impl Future<Output = String>>,
    found: &mut impl FnMut(Finding),
) -> Result<(), String> {
    tokio::select! {
        biased;
        why = &mut stop => return Err(why),
        is_well = control(scenery) => is_well?,
    }
    for group in Group::ALL {
        let mut played = Vec::new();
        let mut interrupted = None;
        for case in cases.iter().filter(|case| case.group == group) {
            tokio::select! {
                biased;
                why = &mut stop => interrupted = Some(why),
                finding = play_one(scenery, case) => played.push(finding),
            }
            if interrupted.is_some() {
                break;
            }
        }
        if played.is_empty() && interrupted.is_none() {
            continue;
        }
        count_all(scenery, &mut played).await;
        played.into_iter().for_each(&mut *found);
        if let Some(why) = interrupted {
            return Err(why);
        }
        tokio::select! {
            biased;
            why = &mut stop => return Err(why),
            is_alive = alive(scenery) => {
                is_alive.map_err(|fault| format!("after the group `{group}` it {fault}"))?;
            }
        }
    }
    Ok(())
}

/// What is genuine is accepted, and has one effect: otherwise nothing that follows means anything.
async fn control(scenery: &Scenery) -> Result<(), String> {
    let stage = Stage::new(scenery);
    let event = stage.event();
    stage.expect_effects([event.event_id()], 1).await;
    let answer = stage.send("genuine", stage.signed(&event)).await;
    if !answer.is_accepted() {
        return Err(format!(
            "a genuine delivery of `{}` was not accepted: {}",
            event.event_type(),
            advice(&answer)
        ));
    }
    let mut watched = stage.into_log().watched;
    settle(scenery, watched.iter_mut()).await;
    match watched.first() {
        Some(Watched {
            fault: Some(fault), ..
        }) => Err(fault.clone()),
        None
        | Some(Watched {
            before: Some(0),
            after: Some(1),
            ..
        }) => Ok(()),
        Some(Watched {
            before: Some(0),
            after: Some(0),
            ids,
            ..
        }) => Err(format!(
            "a genuine delivery of `{}` was accepted and had no effect within {} s under the id {}: is this the event's \
             type that has an effect, and is this how effects are counted?",
            event.event_type(),
            scenery.bounds.settle.as_secs(),
            ids.join(", "),
        )),
        Some(Watched { before, after, .. }) => Err(format!(
            "effects are not counted per event: a new event had {} before it was sent and {} after",
            before.unwrap_or_default(),
            after.unwrap_or_default(),
        )),
    }
}

/// Why a genuine delivery may have been refused.
fn advice(answer: &Answer) -> String {
    let words = answer.words();
    let Some(reply) = answer.reply() else {
        return words;
    };
    let date = reply.headers.iter().find(|(name, _)| name == "date");
    let clock = date
        .map(|(_, date)| format!(" (its clock says {date})"))
        .unwrap_or_default();
    let guess = match reply.status {
        404 | 405 => "is this the path?",
        300..=399 => "redirects are not followed: give the URL it leads to",
        429 => "it limits how often it is asked",
        500.. => "the receiver itself is at fault",
        _ => {
            "another secret, another provider or type of event, another registered URL, or a clock that is wrong?"
        }
    };
    format!("answered {words}{clock}; {guess}")
}

async fn alive(scenery: &Scenery) -> Result<(), String> {
    let mut words = String::new();
    // What a flood left behind may take a moment.
    for pause in [0, 500, 2000] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let stage = Stage::new(scenery);
        let answer = stage.send("genuine", stage.signed(&stage.event())).await;
        if answer.is_accepted() {
            return Ok(());
        }
        words = match answer.end {
            End::NotConnected(_) => "was gone".to_owned(),
            _ => format!("no longer took a genuine delivery: {}", answer.words()),
        };
    }
    Err(words)
}

async fn play_one(scenery: &Scenery, case: &'static Case) -> Finding {
    let began = Instant::now();
    let stage = Stage::new(scenery);
    let verdict = match case.play {
        Play::Mutation => {
            let event = stage.event();
            let mutated = stage.mutated(case.name, &event);
            let forged = Forged::of(event.event_id(), mutated);
            send_one(&stage, forged, false).await
        }
        Play::Refused(make) => send_one(&stage, make(&stage), false).await,
        Play::Accepted(make) => send_one(&stage, make(&stage), true).await,
        Play::Scene(scene) => scene(&stage).await,
    };
    let sent = Mutation::named(case.name).filter(|_| matches!(case.play, Play::Mutation));
    let log = stage.into_log();
    Finding {
        name: case.name,
        group: case.group,
        sent: sent.map_or(case.sent, |mutation| mutation.what),
        safe: case.safe,
        why: case.why,
        verdict: if case.needs_effects && !scenery.effects.are_known() && verdict == Verdict::Passed
        {
            Verdict::NotJudged("only effects tell, and nobody counts them".to_owned())
        } else {
            verdict
        },
        exchanges: log.exchanges,
        effects: log.watched,
        notes: log.notes,
        took: began.elapsed(),
    }
}

async fn send_one(stage: &Stage<'_>, forged: Option<Forged>, is_genuine: bool) -> Verdict {
    let Some(Forged { id, message }) = forged else {
        return Verdict::NotApplicable("the provider has no such thing".to_owned());
    };
    stage.expect_effects([id], u64::from(is_genuine)).await;
    let answer = stage.send("the delivery", message).await;
    if is_genuine {
        accepted(&answer)
    } else {
        refused(&answer)
    }
}

/// Wait for the effects that should come, then for those that should not, and let both judge.
async fn count_all(scenery: &Scenery, findings: &mut [Finding]) {
    let watched = findings.iter_mut().flat_map(|finding| &mut finding.effects);
    settle(scenery, watched).await;
    for finding in findings {
        let said = finding
            .effects
            .iter()
            .map(judged)
            .fold(Verdict::Passed, Verdict::and);
        let verdict = std::mem::replace(&mut finding.verdict, Verdict::Passed);
        // What is not judged by an answer is by its effects.
        finding.verdict = match verdict {
            Verdict::Failed(why) => match said {
                Verdict::Failed(more) => Verdict::Failed(format!("{why}; {more}")),
                _ => Verdict::Failed(why),
            },
            other => other.and(said),
        };
    }
}

async fn settle<'w>(scenery: &Scenery, watched: impl Iterator<Item = &'w mut Watched>) {
    let mut watched: Vec<&mut Watched> = watched.collect();
    if watched.is_empty() {
        return;
    }
    let began = Instant::now();
    for one in &mut watched {
        while one.wanted > 0 && began.elapsed() < scenery.bounds.settle {
            match one.count(&scenery.effects).await {
                Ok(count) if count < one.wanted => {
                    tokio::time::sleep(Duration::from_millis(25)).await;
                }
                _ => break,
            }
        }
    }
    tokio::time::sleep(scenery.bounds.quiet).await;
    for one in watched {
        let count = one.count(&scenery.effects).await;
        one.after = one.noted(count);
    }
}

fn judged(watched: &Watched) -> Verdict {
    match (watched.before, watched.after) {
        (Some(before), Some(after)) => {
            let had = after.saturating_sub(before);
            match had.cmp(&watched.wanted) {
                std::cmp::Ordering::Equal => Verdict::Passed,
                _ => Verdict::Failed(format!("{had} effects instead of {}", watched.wanted)),
            }
        }
        _ => Verdict::NotJudged(watched.fault.clone().unwrap_or_default()),
    }
}
