//! The loop that gives free places to what is due.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use webhook_core::ledger::LedgerError;
use webhook_core::outbox::{Endpoint, EndpointId, Outbox, Ready, Taken};

use super::places::Places;
use super::recorder::Ended;
use super::{AFTER_ERROR, Parts, pause};
use crate::attempt::{Means, attempt};
use crate::fair::Place;
use crate::prepared::Cache;
use crate::rate::Rates;

pub(super) struct Pump<O> {
    pub(super) parts: Arc<Parts<O>>,
    pub(super) places: Arc<Places>,
    /// Rung when deliveries were made.
    pub(super) due: Arc<Notify>,
    pub(super) attempts: TaskTracker,
    pub(super) ended: UnboundedSender<Ended>,
}

/// What one look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Nothing was due, or nothing that may begin.
    Idle,
    /// Something began; there may be more when a place is free.
    Began,
    /// Every place is taken.
    Full,
}

impl<O: Outbox> Pump<O> {
    pub(super) async fn run(self, stop: CancellationToken) {
        let (mut after, mut rates) = (None, Rates::default());
        let cache = Arc::new(Cache::default());
        while !stop.is_cancelled() {
            let from = Instant::now();
            let look = self.look(&mut after, &mut rates, &cache).await;
            let took = from.elapsed();
            let wait = async {
                match look {
                    // At once, unless nothing at all is left to do before a place is free.
                    Ok(Look::Began) => sleep(BREATH).await,
                    Ok(Look::Full) => self.places.freed().await,
                    Ok(Look::Idle) => {
                        // Where a hundred thousand endpoints wait for their retries a look takes the
                        // store half a second: it has as long to itself.
                        sleep(took).await;
                        tokio::select! {
                            () = self.due.notified() => {}
                            () = self.places.freed() => {}
                            () = sleep(self.parts.poll) => {}
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "due deliveries could not be taken");
                        sleep(AFTER_ERROR).await;
                    }
                }
            };
            if !pause(&stop, wait).await {
                return;
            }
        }
    }

    /// Look through the endpoints, from where the last look ended, until something began or all were
    /// seen.
    async fn look(
        &self,
        after: &mut Option<EndpointId>,
        rates: &mut Rates,
        cache: &Arc<Cache>,
    ) -> Result<Look, LedgerError> {
        let parts = &*self.parts;
        let mut has_wrapped = after.is_none();
        loop {
            if self.places.free_bytes().is_none() {
                return Ok(Look::Full);
            }
            let page = parts.outbox.ready(*after, PAGE).await?;
            let is_last = page.len() < PAGE as usize;
            *after = if is_last {
                None
            } else {
                page.last().map(|ready| ready.endpoint)
            };
            let mut barren = HashSet::new();
            loop {
                let Some(free_bytes) = self.places.free_bytes() else {
                    return Ok(Look::Full);
                };
                let now = Instant::now();
                let wants = self.places.state().load.share(
                    &page,
                    self.places.number(),
                    &parts.health,
                    |ready| {
                        if barren.contains(&ready.endpoint) {
                            return 0;
                        }
                        rates.begins(ready.endpoint, ready.limits.per_second, now)
                    },
                );
                if wants.is_empty() {
                    break;
                }
                let asked: Vec<EndpointId> = wants.iter().map(|want| want.endpoint).collect();
                let sent = Instant::now();
                let taken = parts.outbox.take(wants, parts.lease, free_bytes).await?;
                {
                    let mut state = self.places.state();
                    for id in &asked {
                        state.load.had_its_turn(*id);
                    }
                }
                if !taken.deliveries.is_empty() {
                    for delivery in &taken.deliveries {
                        rates.spend(delivery.endpoint);
                    }
                    self.begin(taken, sent, &page, cache);
                    return Ok(Look::Began);
                }
                // What is due there waits behind a head, or others have all of its room. The places that it
                // did not use are for those that got none.
                barren.extend(asked);
            }
            if is_last && has_wrapped {
                return Ok(Look::Idle);
            }
            has_wrapped |= is_last;
        }
    }

    /// Begin what was leased by a statement sent at `sent`.
    fn begin(&self, taken: Taken, sent: Instant, page: &[Ready], cache: &Arc<Cache>) {
        let doubtful: HashMap<EndpointId, bool> = page
            .iter()
            .map(|ready| (ready.endpoint, ready.health.is_doubtful(&self.parts.health)))
            .collect();
        let endpoints: HashMap<EndpointId, Arc<Endpoint>> = taken
            .endpoints
            .into_iter()
            .map(|endpoint| (endpoint.id, Arc::new(endpoint)))
            .collect();
        for delivery in taken.deliveries {
            let Some(endpoint) = endpoints.get(&delivery.endpoint).cloned() else {
                continue;
            };
            let place = Place {
                endpoint: endpoint.id,
                tenant: endpoint.tenant.clone(),
                is_doubtful: doubtful.get(&endpoint.id).copied().unwrap_or_default(),
            };
            let place = self.places.take(place, delivery.payload.len());
            let (parts, cache) = (self.parts.clone(), cache.clone());
            let ended = self.ended.clone();
            self.attempts.spawn(async move {
                if !ends_within(parts.lease, parts.client.deadline(), sent.elapsed()) {
                    // This process stood still: somebody else may be sending it by now.
                    let back = parts.outbox.hand_back(vec![delivery.share]).await;
                    tracing::warn!(
                        delivery = %delivery.share.delivery, handed_back = back.is_ok(),
                        "a delivery was not attempted: its lease was all but over"
                    );
                    return;
                }
                let prepared = cache.prepare(&endpoint, &parts.vault, &parts.schemes);
                let means = Means {
                    client: &parts.client,
                    clock: &*parts.clock,
                    schedule: &parts.schedule,
                    slow_after: parts.slow_after,
                };
                let prepared = prepared.as_deref().map_err(Clone::clone);
                let record = attempt(&means, &delivery, prepared).await;
                // The recorder lives as long as a sender does.
                let at = Instant::now();
                let _ = ended.send(Ended { record, at, place });
            });
        }
    }
}

/// Whether an attempt that begins now, so long after its lease was asked for, is over before it.
fn ends_within(lease: Duration, deadline: Duration, since: Duration) -> bool {
    since.saturating_add(deadline) <= lease
}

/// Endpoints a look.
const PAGE: u32 = 512;
/// Attempts that end within it are recorded together, and their places given away together.
const BREATH: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_begins_only_if_it_ends_within_its_lease() {
        let [deadline, lease] = [5, 15].map(Duration::from_secs);
        for (since, may) in [(0, true), (10_000, true), (10_001, false), (60_000, false)] {
            let since = Duration::from_millis(since);
            assert_eq!(ends_within(lease, deadline, since), may, "{since:?}");
        }
    }
}
