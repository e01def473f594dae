//! Once: redelivery is normal, replay is an attack, and both end in one effect.

use std::time::Duration;

use webhook_fixtures::{Event, IdAt};

use crate::case::{Case, Forged, Group, Play, Verdict};
use crate::client::Answer;
use crate::effects::shell;
use crate::judge::accepted;
use crate::message::Message;
use crate::stage::Stage;

const GROUP: Group = Group::SingleUse;

const ONE: &str = "one effect; 2xx at least once";
const ATOMIC: &str = "looking whether an event is known and writing that it is are one step, or two deliveries pass between them";

pub(super) const CASES: &[Case] = &[
    Case::new(
        GROUP,
        "replay",
        "a genuine delivery, and then the same bytes again",
        ONE,
        "a captured delivery is valid until its window is over",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                let delivery = stage.signed(&event);
                stage.expect_effects([event.event_id()], 1).await;
                let first = stage.send("the delivery", delivery.clone()).await;
                stage.send("the same again", delivery).await;
                accepted(&first)
            })
        }),
    )
    .by_effects(),
    Case::new(
        GROUP,
        "retry",
        "a genuine delivery, and a second later the provider's retry, signed anew",
        ONE,
        "providers deliver at least once: who knows replays by their signature or their timestamp takes every retry for new",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                stage.expect_effects([event.event_id()], 1).await;
                let first = stage.send("the delivery", stage.signed(&event)).await;
                tokio::time::sleep(Duration::from_millis(1_100)).await;
                stage.send("its retry", stage.signed(&event)).await;
                accepted(&first)
            })
        }),
    )
    .by_effects(),
    Case::new(GROUP, "concurrent-2", "the same delivery twice at once", ONE, ATOMIC, Play::Scene(|stage| Box::pin(at_once(stage, 2)))).by_effects(),
    Case::new(GROUP, "concurrent-10", "the same delivery ten times at once", ONE, ATOMIC, Play::Scene(|stage| Box::pin(at_once(stage, 10)))).by_effects(),
    Case::new(GROUP, "concurrent-50", "the same delivery fifty times at once", ONE, ATOMIC, Play::Scene(|stage| Box::pin(at_once(stage, 50)))).by_effects(),
    Case::new(
        GROUP,
        "same-id-other-content",
        "a genuine delivery, and then other content under its id, signed",
        "one effect",
        "an id is of one event; the second is a fault of the sender or worse, and nothing to run",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                let Ok(other) = event.clone().try_set("/webhook_probe", 1) else {
                    return not_here("the body has no place for other content");
                };
                if event.id_at() == IdAt::Nowhere {
                    return not_here("the provider names no events");
                }
                stage.expect_effects([event.event_id()], 1).await;
                let first = stage.send("the delivery", stage.signed(&event)).await;
                stage.send("other content under its id", stage.signed(&other)).await;
                accepted(&first)
            })
        }),
    )
    .by_effects(),
    Case::new(
        GROUP,
        "unsigned-id-changed",
        "a genuine delivery, and then its bytes under a fresh id that nobody signed",
        "one effect, under either id",
        "whoever captured one delivery could run it as often as there are ids",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                if event.id_at() != IdAt::Headers {
                    return not_here("the provider signs its ids");
                }
                let Ok(other) = event.clone().try_id(&stage.fresh_id()) else {
                    return not_here("the id has no place");
                };
                stage.expect_effects([event.event_id(), other.event_id()], 1).await;
                let first = stage.send("the delivery", stage.signed(&event)).await;
                stage.send("the same under a fresh id", stage.signed(&other)).await;
                accepted(&first)
            })
        }),
    )
    .by_effects(),
    Case::new(
        GROUP,
        "unsigned-id-changed-at-once",
        "the same bytes under ten ids that nobody signed, at once",
        "one effect, under whichever id",
        "content is claimed as atomically as an id, or not at all",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                if event.id_at() != IdAt::Headers {
                    return not_here("the provider signs its ids");
                }
                let again = |_| event.clone().try_id(&stage.fresh_id()).ok();
                let events: Vec<Event> = (0..10).filter_map(again).collect();
                stage.expect_effects(events.iter().map(Event::event_id), 1).await;
                let messages = events.iter().map(|event| stage.signed(event).into()).collect();
                one_of(&stage.send_at_once("under ten ids", messages).await)
            })
        }),
    )
    .by_effects(),
    Case::new(
        GROUP,
        "unsigned-type-changed",
        "a genuine delivery, and then its bytes as another type that nobody signed, under a fresh id",
        "one effect",
        "whoever captured one delivery could run another handler with it",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                let mut types = stage.scenery.sender.events();
                let other = types.find(|other| *other != event.event_type());
                let (IdAt::Headers, Some(label)) = (event.id_at(), other) else {
                    return not_here("the provider signs its types");
                };
                let Ok(other) = event.clone().labelled(label).try_id(&stage.fresh_id()) else {
                    return not_here("the id has no place");
                };
                stage.expect_effects([event.event_id(), other.event_id()], 1).await;
                let first = stage.send("the delivery", stage.signed(&event)).await;
                stage.send(format!("the same as `{label}`"), stage.signed(&other)).await;
                accepted(&first)
            })
        }),
    )
    .by_effects(),
    Case::refused(
        GROUP,
        "signed-id-changed",
        "a genuine delivery with another id in the signed header",
        "an id that is not covered by the signature is anybody's: one capture, many events",
        |stage| {
            let event = stage.event();
            if event.id_at() != IdAt::Signed {
                return None;
            }
            // The mutation's id is always the same: another one that is as little known.
            let other = event.clone().try_id(&stage.fresh_id()).ok()?;
            let mutated = stage.mutated("signature-empty", &event)?;
            let emptied = mutated.headers.iter().find(|(_, value)| value.is_empty())?;
            let kept = stage.signed(&event).value(&emptied.0)?.to_vec();
            Some(Forged::new(other.event_id(), stage.signed(&other).with(&emptied.0, kept)))
        },
    ),
    Case::new(
        GROUP,
        "forgery-before",
        "a forgery under an event's id, and then the genuine delivery",
        "4xx, then 2xx, and one effect",
        "what is not authentic leaves no trace: otherwise anybody could use up ids that are to come",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                stage.expect_effects([event.event_id()], 1).await;
                let forged = event.signed(&stage.keys().strange, stage.now());
                stage.send("the forgery", forged).await;
                let genuine = stage.send("the genuine delivery", stage.signed(&event)).await;
                accepted(&genuine)
            })
        }),
    ),
    Case::new(
        GROUP,
        "two-events",
        "two events of like content whose ids differ in the last character",
        "2xx twice, and an effect of each",
        "a second sale of the same thing is a second sale; a column that cuts ids short makes it the first",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                let mut id = event.event_id();
                let last = if id.pop() == Some('1') { '2' } else { '1' };
                id.push(last);
                match stage.event().try_id(&id) {
                    Ok(other) if other.event_id() == id => both(stage, &event, &other).await,
                    _ => not_here("the provider names no events"),
                }
            })
        }),
    ),
    Case::new(
        GROUP,
        "ids-differ-in-case",
        "two events whose ids differ in nothing but the case of a letter",
        "2xx twice, and an effect of each",
        "ids are bytes: a database that compares without case loses the second event",
        Play::Scene(|stage| {
            Box::pin(async {
                let event = stage.event();
                if !matches!(event.id_at(), IdAt::Body(_) | IdAt::Signed) {
                    return not_here("the provider's ids have no case");
                }
                let id = event.event_id();
                let (Ok(lower), Ok(upper)) =
                    (event.clone().try_id(&format!("{id}k")), event.clone().try_id(&format!("{id}K")))
                else {
                    return not_here("the provider's ids have no case");
                };
                both(stage, &lower, &upper).await
            })
        }),
    ),
    Case::new(
        GROUP,
        "replay-after-restart",
        "a genuine delivery, a restart of the receiver, and the same bytes again",
        ONE,
        "what is remembered in a process is forgotten with it",
        Play::Scene(|stage| Box::pin(after_restart(stage))),
    )
    .by_effects(),
];

async fn at_once(stage: &Stage<'_>, wanted: usize) -> Verdict {
    let bound = stage.bounds().concurrency;
    if wanted > bound {
        return not_here(&format!("more than {bound} at once were not asked for"));
    }
    let event = stage.event();
    stage.expect_effects([event.event_id()], 1).await;
    let message = Message::from(stage.signed(&event));
    one_of(&stage.send_at_once("at once", vec![message; wanted]).await)
}

fn one_of(answers: &[Answer]) -> Verdict {
    if answers.iter().any(Answer::is_accepted) {
        Verdict::Passed
    } else {
        answers.first().map_or(Verdict::Passed, accepted)
    }
}

async fn both(stage: &Stage<'_>, first: &Event, second: &Event) -> Verdict {
    stage.expect_effects([first.event_id()], 1).await;
    stage.expect_effects([second.event_id()], 1).await;
    let answers = [
        stage.send("the first", stage.signed(first)).await,
        stage.send("the second", stage.signed(second)).await,
    ];
    answers
        .iter()
        .map(accepted)
        .fold(Verdict::Passed, Verdict::and)
}

async fn after_restart(stage: &Stage<'_>) -> Verdict {
    let Some(command) = &stage.scenery.restart else {
        return not_here("nobody said how to restart the receiver");
    };
    let event = stage.event();
    let delivery = stage.signed(&event);
    stage.expect_effects([event.event_id()], 1).await;
    let first = stage.send("the delivery", delivery.clone()).await;
    if let Err(fault) = shell(command, Duration::from_mins(1)).await {
        return Verdict::NotJudged(format!("the restart: {fault}"));
    }
    for _ in 0..100 {
        let again = stage.send_unseen(&Message::from(delivery.clone())).await;
        if again.status().is_some() {
            stage.note(format!("the same after the restart: {}", again.words()));
            return accepted(&first);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Verdict::NotJudged("the receiver did not come back".to_owned())
}

fn not_here(why: &str) -> Verdict {
    Verdict::NotApplicable(why.to_owned())
}
