//! Time: a captured delivery is worth something for minutes, not for ever.

use super::splice::stamp;
use crate::case::{Case, Forged, Group};
use crate::message::Message;
use crate::stage::Stage;

const GROUP: Group = Group::Freshness;

const OLD: &str = "whoever captured it can send it again for as long as it is taken";
const EXACT: &str = "the timestamp is what was signed, byte for byte, or it is not signed";

pub(super) const CASES: &[Case] = &[
    Case::mutation(GROUP, "stale", OLD),
    Case::mutation(GROUP, "just-stale", OLD),
    Case::mutation(GROUP, "a-year-old", OLD),
    Case::mutation(
        GROUP,
        "future",
        "a timestamp from the future is fresh for as long as it likes: a window has two sides",
    ),
    Case::refused(
        GROUP,
        "a-year-ahead",
        "it is signed a year ahead",
        "a timestamp from the future is fresh for as long as it likes: a window has two sides",
        |stage| {
            stage.window()?;
            Some(signed_at(stage, 31_536_000))
        },
    ),
    Case::accepted(
        GROUP,
        "just-fresh",
        "a genuine delivery that is ten seconds from the end of the window",
        "deliveries are delayed, and clocks differ",
        |stage| Some(signed_at(stage, at_the_edge(stage.window()?.past(), -1))),
    ),
    Case::accepted(
        GROUP,
        "just-ahead",
        "a genuine delivery from a clock that is ahead by all but ten seconds of the window",
        "clocks differ to both sides",
        |stage| Some(signed_at(stage, at_the_edge(stage.window()?.future(), 1))),
    ),
    Case::mutation(
        GROUP,
        "timestamp-changed",
        "a timestamp that is not covered by the signature is anybody's",
    ),
    Case::mutation(
        GROUP,
        "timestamp-refreshed",
        "a timestamp that is not covered by the signature is anybody's",
    ),
    Case::mutation(
        GROUP,
        "timestamp-missing",
        "without a timestamp nothing is ever old",
    ),
    Case::refused(
        GROUP,
        "timestamp-fresh-then-stale",
        "a stale delivery has a fresh timestamp before its own",
        "one timestamp is judged and another one is verified",
        |stage| two_stamps(stage, true),
    ),
    Case::refused(
        GROUP,
        "timestamp-stale-then-fresh",
        "a stale delivery has a fresh timestamp behind its own",
        "one timestamp is judged and another one is verified",
        |stage| two_stamps(stage, false),
    ),
    Case::mutation(GROUP, "timestamp-signed-plus", EXACT),
    Case::mutation(GROUP, "timestamp-zero-before", EXACT),
    Case::mutation(GROUP, "timestamp-negative", EXACT),
    Case::mutation(
        GROUP,
        "timestamp-not-a-number",
        "what is not a number compares false with everything: `NaN > 300` is never so",
    ),
    Case::mutation(
        GROUP,
        "timestamp-huge",
        "numbers overflow, or take long to read",
    ),
];

/// Ten seconds within `side` of the window, before or after now.
fn at_the_edge(side: std::time::Duration, sign: i64) -> i64 {
    let secs = i64::try_from(side.as_secs()).unwrap_or(i64::MAX);
    secs.saturating_sub(10).max(0).saturating_mul(sign)
}

fn signed_at(stage: &Stage<'_>, ahead: i64) -> Forged {
    let event = stage.event();
    let delivery = event.signed(&stage.keys().active, stage.now().saturating_add(ahead));
    Forged::new(event.event_id(), delivery)
}

/// A delivery signed a minute before the window, with the present written beside its timestamp.
fn two_stamps(stage: &Stage<'_>, fresh_first: bool) -> Option<Forged> {
    let age = i64::try_from(stage.window()?.past().as_secs())
        .ok()?
        .checked_add(60)?;
    let then = stage.now().checked_sub(age)?;
    let event = stage.event();
    let mut delivery = event.signed(&stage.keys().active, then);
    let place = stamp(&delivery, then)?;
    let fresh = place.form.write(stage.now());
    let (name, value) = delivery.headers.get(place.field)?.clone();
    if place.bytes == (0..value.len()) {
        let behind = usize::from(!fresh_first);
        delivery
            .headers
            .insert(place.field.checked_add(behind)?, (name, fresh.into_bytes()));
    } else {
        // One of several elements: `t=1,v1=…`.
        let text = String::from_utf8(value).ok()?;
        let start = text
            .get(..place.bytes.start)?
            .rfind([',', ';'])
            .map_or(0, |at| at.saturating_add(1));
        let separator = text
            .get(place.bytes.end..)?
            .chars()
            .next()
            .filter(|c| matches!(c, ',' | ';'))?;
        let fresh = format!("{}{fresh}", text.get(start..place.bytes.start)?);
        let old = text.get(start..place.bytes.end)?;
        let (one, other) = if fresh_first {
            (fresh.as_str(), old)
        } else {
            (old, fresh.as_str())
        };
        let both = format!(
            "{}{one}{separator}{other}{}",
            text.get(..start)?,
            text.get(place.bytes.end..)?
        );
        delivery = delivery.with(&name, both);
    }
    Some(Forged::new(event.event_id(), Message::from(delivery)))
}
