//! Keys: replaced without a lost delivery, and gone when they are gone.

use crate::case::{Case, Forged, Group, Play, Verdict};
use crate::judge::{accepted, refused};
use crate::stage::Stage;

const GROUP: Group = Group::Rotation;

const BOTH: &str = "while a secret is replaced, providers sign with both, and the receiver may know one: any right signature is enough";

pub(super) const CASES: &[Case] = &[
    Case::new(
        GROUP,
        "every-live-key",
        "a genuine delivery under each live secret",
        "2xx each time, and an effect of each",
        "while a secret is replaced, deliveries under both are under way",
        Play::Scene(|stage| {
            Box::pin(async {
                if stage.keys().others.is_empty() {
                    return Verdict::NotApplicable("only one live secret was given".to_owned());
                }
                let mut verdict = Verdict::Passed;
                for (nth, keys) in (2_usize..).zip(&stage.keys().others) {
                    let event = stage.event();
                    stage.expect_effects([event.event_id()], 1).await;
                    let delivery = event.signed(keys, stage.now());
                    verdict = verdict.and(accepted(
                        &stage.send(format!("under secret {nth}"), delivery).await,
                    ));
                }
                verdict
            })
        }),
    ),
    Case::accepted(
        GROUP,
        "two-signatures-right-first",
        "a genuine delivery with two signatures, the second by another secret",
        BOTH,
        |stage| two(stage, false),
    ),
    Case::accepted(
        GROUP,
        "two-signatures-right-last",
        "a genuine delivery with two signatures, the first by another secret",
        BOTH,
        |stage| two(stage, true),
    ),
    Case::new(
        GROUP,
        "retired-key",
        "a delivery under each secret that was retired",
        "4xx, and no effect",
        "a secret is replaced because somebody else may know it",
        Play::Scene(|stage| {
            Box::pin(async {
                if stage.keys().retired.is_empty() {
                    return Verdict::NotApplicable("no retired secret was given".to_owned());
                }
                let mut verdict = Verdict::Passed;
                for keys in &stage.keys().retired {
                    let event = stage.event();
                    stage.expect_effects([event.event_id()], 0).await;
                    let delivery = event.signed(keys, stage.now());
                    verdict = verdict.and(refused(
                        &stage.send("under a retired secret", delivery).await,
                    ));
                }
                verdict
            })
        }),
    ),
    Case::refused(
        GROUP,
        "unknown-key-id",
        "a right signature under the id of a key that does not exist",
        "an id that chooses no key must not choose all of them",
        |stage| {
            let event = stage.event();
            let misnamed = event.signed(stage.keys().misnamed.as_ref()?, stage.now());
            // Where ids of keys are not sent, it is a genuine delivery.
            let is_named = misnamed
                .headers
                .iter()
                .any(|(_, value)| value.windows(11).any(|part| part == b"no-such-key"));
            is_named.then(|| Forged::new(event.event_id(), misnamed))
        },
    ),
];

fn two(stage: &Stage<'_>, stranger_first: bool) -> Option<Forged> {
    let keys = stage.keys();
    let both = if stranger_first {
        &keys.stranger_first
    } else {
        &keys.stranger_last
    };
    let event = stage.event();
    let delivery = event.signed_by_every_key(both.as_ref()?, stage.now());
    // A grammar with room for one carries the active key's.
    let alone = event.signed(both.as_ref()?, stage.now());
    let length = |delivery: &webhook_fixtures::Delivery| -> usize {
        delivery
            .headers
            .iter()
            .map(|(name, value)| name.len().saturating_add(value.len()))
            .sum()
    };
    (length(&delivery) > length(&alone)).then(|| Forged::new(event.event_id(), delivery))
}
