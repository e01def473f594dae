//! From authentic bytes to a durable answer: handshake, identities, claim.

use webhook_core::bounds::MAX_EVENTS_PER_DELIVERY;
use webhook_core::ledger::Ledger;
use webhook_core::{
    Answer, InvalidEvent, NewEvent, Outcome, Quarantine, Reply, State, Verified, fault_point,
};

use crate::policy::Unlisted;
use crate::response::Reception;
use crate::settled::{late, outcome, quarantined, unavailable};
use crate::shared::Site;
use crate::{inline, telemetry};

/// What the events of one delivery come down to.
struct Sorted {
    /// Claimed and stored in one statement.
    inbox: Vec<NewEvent>,
    /// Run one after the other inside the request.
    inline: Vec<NewEvent>,
    /// Under a label they do not bear.
    relabelled: Vec<NewEvent>,
    /// What became of the others.
    outcome: Option<Outcome>,
}

pub(crate) async fn receive<L: Ledger>(site: &Site<L>, verified: Verified<'_>) -> Reception {
    let shared = &site.shared;
    let _token = shared.life.deliveries.token();
    let built = site.built();
    let key_id = verified.key().id().map(|id| &**id);
    let skew = verified
        .signed_at()
        .map(|then| shared.now().unix_secs().saturating_sub(then));
    built
        .meters
        .verified(verified.key(), skew, verified.body().len());
    let span = tracing::Span::current();
    span.record("key_id", key_id);
    match built.provider.handshake(&verified) {
        Ok(None) => {}
        Ok(Some(handshake)) => return Reception::handshake(handshake),
        Err(fault) => return invalid(site, fault),
    }
    let sorted = match sort(site, &verified) {
        Ok(sorted) => sorted,
        Err(fault) => return invalid(site, fault),
    };
    drop(verified);
    let reception = settle(site, sorted).await;
    fault_point!("answer", _ => return site.reception(Outcome::StoreUnavailable));
    reception
}

fn invalid<L: Ledger>(site: &Site<L>, fault: InvalidEvent) -> Reception {
    tracing::debug!(endpoint = %site.built().name, %fault, "authentic delivery is no event");
    site.reception(Outcome::InvalidEvent)
}

fn sort<L: Ledger>(site: &Site<L>, verified: &Verified<'_>) -> Result<Sorted, InvalidEvent> {
    let built = site.built();
    let identities = built.provider.identities(verified)?;
    if !(1..=MAX_EVENTS_PER_DELIVERY).contains(&identities.len()) {
        return Err(InvalidEvent::Count);
    }
    let mut sorted = Sorted {
        inbox: Vec::new(),
        inline: Vec::new(),
        relabelled: Vec::new(),
        outcome: None,
    };
    for identity in identities {
        if let Some(why) = identity.is_outside() {
            telemetry::outside(&built.name, why);
            sorted.outcome = Some(Outcome::Outside);
            continue;
        }
        let event = NewEvent::new(verified, identity, &*built.provider, &built.scope)?;
        let span = tracing::Span::current();
        span.record("event_id", event.id().as_str());
        span.record("event_type", event.event_type().as_str());
        let event_type = event.event_type().as_str();
        if built.handler(event_type).is_none() {
            sorted.outcome = Some(Outcome::Ignored);
            if built.unlisted == Unlisted::Store {
                sorted.inbox.push(event.ignored());
            }
        } else if !built.provider.corroborates(event_type, event.payload()) {
            sorted.relabelled.push(event);
        } else if built.is_inline(event_type) {
            sorted.inline.push(event);
        } else {
            sorted.inbox.push(event);
        }
    }
    Ok(sorted)
}

/// Make everything durable that the answer acknowledges. The first failure is the answer: what was
/// stored before it is a duplicate when the provider comes again.
async fn settle<L: Ledger>(site: &Site<L>, sorted: Sorted) -> Reception {
    let built = site.built();
    let mut settled: Vec<(Outcome, Option<Reply>)> = Vec::new();
    settled.extend(sorted.outcome.map(|outcome| (outcome, None)));
    for event in sorted.relabelled {
        let stored = site.shared.ledger.quarantine(event, Quarantine::Relabelled);
        match tokio::time::timeout(built.acknowledge_within, stored).await {
            Ok(Ok(())) => {
                settled.push((quarantined(built, Quarantine::Relabelled), None));
            }
            Ok(Err(fault)) => return site.reception(unavailable(&built.name, &fault)),
            Err(_) => return site.reception(late(&built.name)),
        }
    }
    if !sorted.inbox.is_empty() {
        let ignored: Vec<bool> = sorted.inbox.iter().map(is_ignored).collect();
        let claim = site.shared.ledger.claim(sorted.inbox);
        match tokio::time::timeout(built.acknowledge_within, claim).await {
            Ok(Ok(claims)) => {
                settled.extend(claims.into_iter().zip(ignored).map(|(claim, ignored)| {
                    let (outcome, reply) = match outcome(built, claim) {
                        (Outcome::Accepted, _) if ignored => (Outcome::Ignored, None),
                        claimed => claimed,
                    };
                    if matches!(outcome, Outcome::Accepted | Outcome::Revived) {
                        site.served.bell.notify_one();
                    }
                    (outcome, reply)
                }));
            }
            Ok(Err(fault)) => return site.reception(unavailable(&built.name, &fault)),
            // The claim goes on; the provider's retry will find it.
            Err(_) => return site.reception(late(&built.name)),
        }
    }
    for event in sorted.inline {
        let ran = inline::run(site.clone(), event).await;
        if ran.0.answer() == Answer::Unavailable {
            return site.reception(ran.0);
        }
        settled.push(ran);
    }
    answer(site, settled)
}

fn is_ignored(event: &NewEvent) -> bool {
    event.first_state() == State::Ignored
}

/// One event answers for itself. Of several the first that is refused names the outcome, or else the
/// first that is not plain success.
fn answer<L: Ledger>(site: &Site<L>, settled: Vec<(Outcome, Option<Reply>)>) -> Reception {
    let success = site.built().provider.spec().success();
    let remarkable = |outcome: &Outcome| !matches!(outcome, Outcome::Accepted | Outcome::Completed);
    let outcomes = || settled.iter().map(|(outcome, _)| *outcome);
    let outcome = outcomes()
        .find(|outcome| outcome.answer() != Answer::Success)
        .or_else(|| outcomes().find(remarkable))
        .or(settled.first().map(|(outcome, _)| *outcome))
        .unwrap_or(Outcome::Ignored);
    match <[_; 1]>::try_from(settled) {
        Ok([(outcome, Some(reply))]) => Reception::reply(outcome, success, &reply),
        _ => Reception::of(outcome, success),
    }
}
