//! Answers: a stranger learns nothing from them, and a provider learns what it needs.

use super::splice::{digits_of, with_digits};
use crate::case::{Case, Group, Play, Verdict};
use crate::client::{Answer, Reply};
use crate::judge::accepted;
use crate::message::Message;
use crate::stage::Stage;
use crate::statistics::compare;

const GROUP: Group = Group::Answers;

pub(super) const CASES: &[Case] = &[
    Case::new(
        GROUP,
        "refusals-alike",
        "forgeries of several kinds, whose answers are compared",
        "the same status and the same body each time",
        "an answer that tells why it refused tells a forger how far he got",
        Play::Scene(|stage| {
            let kinds = &[
                "signature-changed",
                "signed-by-another-secret",
                "body-changed",
                "signature-not-digits",
                "signature-missing",
            ];
            Box::pin(alike(stage, kinds))
        }),
    ),
    Case::new(
        GROUP,
        "staleness-untold",
        "an authentic but stale delivery and a forged one, whose answers are compared",
        "the same status and the same body",
        "`too old` says that the signature is right: it tells which captured deliveries, and which guessed secrets, are genuine",
        Play::Scene(|stage| Box::pin(alike(stage, &["stale", "signed-by-another-secret"]))),
    ),
    Case::new(
        GROUP,
        "signature-untold",
        "a forgery, whose answer is searched for the right signature",
        "an answer without it",
        "`expected … but got …` hands the forger his signature",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                let signed = stage.signed(&event);
                let Some(forged) = stage.mutated("signature-changed", &event) else {
                    return no_digits();
                };
                // The right digits are those of a second that may have passed since.
                let right = digits_of(stage, &event, &signed);
                let answer = stage.send("the forgery", forged).await;
                let (Some(right), Some(reply)) = (right, answer.reply()) else {
                    return Verdict::NotJudged(answer.words());
                };
                if String::from_utf8_lossy(&reply.body).contains(&right) {
                    Verdict::Failed("the answer holds the right signature".to_owned())
                } else {
                    Verdict::Passed
                }
            })
        }),
    ),
    Case::new(
        GROUP,
        "mismatch-timing",
        "forgeries wrong in the first byte and forgeries wrong in the last, whose times are compared",
        "no difference that could be measured",
        "a comparison that stops at the first difference can be asked byte for byte. Over a network this is an indication, never a proof",
        Play::Scene(|stage| Box::pin(timing(stage))),
    ),
    Case::new(
        GROUP,
        "duplicate-acknowledged",
        "a genuine delivery, and then the same again",
        "2xx twice",
        "a duplicate is done: a provider that reads 409 sends it again, and in the end disables the endpoint",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                let delivery = stage.signed(&event);
                let first = stage.send("the delivery", delivery.clone()).await;
                // Let it be done, where that takes a while.
                tokio::time::sleep(stage.bounds().quiet).await;
                let second = stage.send("the same again", delivery).await;
                accepted(&first).and(accepted(&second))
            })
        }),
    ),
    Case::new(
        GROUP,
        "acknowledged-promptly",
        "three genuine deliveries, one after the other",
        "2xx within three seconds each time",
        "providers wait for three to thirty seconds, then they send again: store first, work later",
        Play::Scene(|stage| {
            Box::pin(async {
                let mut verdict = Verdict::Passed;
                for nth in 1..=3 {
                    let delivery = stage.signed(&stage.event());
                    let answer = stage.send(format!("delivery {nth}"), delivery).await;
                    verdict = verdict.and(accepted(&answer));
                    if answer.took > stage.bounds().prompt {
                        let took = answer.took.as_millis();
                        verdict = verdict.and(Verdict::Failed(format!("it took {took} ms")));
                    }
                }
                verdict
            })
        }),
    ),
];

async fn alike(stage: &Stage<'_>, kinds: &[&str]) -> Verdict {
    let mut answers: Vec<(&str, Answer)> = Vec::new();
    for kind in kinds {
        let Some(forged) = stage.mutated(kind, &stage.event()) else {
            continue;
        };
        let answer = stage.send(*kind, forged).await;
        // What is accepted is no refusal, and another case's matter.
        if !answer.is_accepted() {
            answers.push((kind, answer));
        }
    }
    let [(first, one), rest @ ..] = answers.as_slice() else {
        return Verdict::NotApplicable("nothing was refused".to_owned());
    };
    if rest.is_empty() {
        return Verdict::NotApplicable("only one of them was refused".to_owned());
    }
    for (kind, other) in rest {
        let (Some(a), Some(b)) = (one.reply(), other.reply()) else {
            return Verdict::NotJudged(format!(
                "{first}: {}; {kind}: {}",
                one.words(),
                other.words()
            ));
        };
        if a.status != b.status {
            return Verdict::Failed(format!(
                "{first} is answered {}, {kind} {}",
                a.status, b.status
            ));
        }
        if told(a) != told(b) {
            return Verdict::Failed(format!("{first} and {kind} are answered with other words"));
        }
    }
    Verdict::Passed
}

/// A body as it reads, with whatever differs from request to request left out.
fn told(reply: &Reply) -> String {
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    let is_hex = |char: char| char.is_ascii_hexdigit() || char == '-';
    // Request ids and times; not a signature's 64 digits, which are looked for.
    let mut told = String::new();
    let mut word = String::new();
    for char in text.chars().chain(['\n']) {
        if is_hex(char) {
            word.push(char);
            continue;
        }
        let is_id = word.len() <= 40 && word.chars().any(|char| char.is_ascii_digit());
        told.push_str(if is_id { "#" } else { &word });
        word.clear();
        told.push(char);
    }
    told
}

async fn timing(stage: &Stage<'_>) -> Verdict {
    let rounds = stage.bounds().timing_rounds;
    let wrong = |at_start: bool| {
        let event = stage.event();
        with_digits(stage, &event, |digits| {
            let mut digits = digits.to_vec();
            // Not the padding of base64, nor what stands before it.
            let at = if at_start {
                0
            } else {
                digits.len().checked_sub(4)?
            };
            let digit = digits.get_mut(at)?;
            *digit = if *digit == b'a' { b'b' } else { b'a' };
            Some(digits)
        })
    };
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // In turns, and in either order: what drifts, drifts for both.
        for at_start in [round % 2 == 0, round % 2 == 1] {
            let Some(forged) = wrong(at_start) else {
                return no_digits();
            };
            let answer = if round == 0 {
                let what = if at_start {
                    "wrong in the first digit"
                } else {
                    "wrong in the last digits"
                };
                stage.send(what, forged).await
            } else {
                stage.send_unseen(&Message::from(forged)).await
            };
            if answer.status() == Some(429) || answer.status().is_none() {
                return Verdict::NotJudged(format!("not timed: {}", answer.words()));
            }
            let times = if at_start { &mut early } else { &mut late };
            times.push(answer.took.as_secs_f64() * 1e6);
        }
    }
    let Some(found) = compare(&early, &late) else {
        return Verdict::NotJudged("too few rounds".to_owned());
    };
    let statistics = format!(
        "{rounds} of each; medians {:.0} µs apart; Mann–Whitney U, two-sided: p = {:.4}",
        found.shift, found.p
    );
    stage.note(statistics.clone());
    // Only a late mismatch that takes longer is that fault, and only a clear one is worth a look.
    if found.p < 0.001 && found.shift > 0.0 {
        Verdict::NotJudged(format!(
            "an indication that it compares byte by byte: {statistics}"
        ))
    } else {
        Verdict::Passed
    }
}

fn no_digits() -> Verdict {
    Verdict::NotApplicable("the signature is in no header".to_owned())
}
