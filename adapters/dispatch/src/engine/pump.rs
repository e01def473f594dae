//! The loop that gives free places to what is due.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use webhook_core::ledger::LedgerError;
use webhook_core::outbox::{Endpoint, EndpointId, Outbox, Ready, Repute, Taken};

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

/// What is kept from look to look.
struct Looker {
    rates: Rates,
    cache: Arc<Cache>,
    /// Where the tour of all endpoints goes on.
    after: Option<EndpointId>,
    /// When the next tour begins.
    tour_at: Instant,
}

impl<O: Outbox> Pump<O> {
    pub(super) async fn run(self, stop: CancellationToken) {
        let mut looker = Looker {
            rates: Rates::default(),
            cache: Arc::default(),
            after: None,
            tour_at: Instant::now(),
        };
        while !stop.is_cancelled() {
            let look = self.look(&mut looker).await;
            let wait = async {
                match look {
                    // At once, unless nothing at all is left to do before a place is free.
                    Ok(Look::Began) => sleep(BREATH).await,
                    Ok(Look::Full) => self.places.freed().await,
                    Ok(Look::Idle) => tokio::select! {
                        () = self.places.freed() => {}
                        () = sleep_until(looker.tour_at.into()) => {}
                    },
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

    /// Look at the endpoints there was a hint of, and now and then at all.
    ///
    /// A tour of all costs the store a look at each that has anything waiting, though nothing of it may
    /// begin: thousands that hang would slow everybody's deliveries down. So tours only find what nobody
    /// hints at: retries that became due, what other processes fanned out, and who waits for a place.
    async fn look(&self, looker: &mut Looker) -> Result<Look, LedgerError> {
        if self.places.free_bytes().is_none() {
            return Ok(looker.full());
        }
        let mut began = false;
        match self.places.hints() {
            Some(hints) if hints.is_empty() => {}
            Some(hints) => {
                let page = self.parts.outbox.ready_of(hints).await?;
                began = match self.begin_some(&page, looker).await? {
                    Look::Full => return Ok(looker.full()),
                    look => look == Look::Began,
                };
            }
            None => looker.tour_at = Instant::now(),
        }
        if looker.tour_at <= Instant::now() {
            match self.tour(looker).await? {
                Look::Full => return Ok(looker.full()),
                look => began |= look == Look::Began,
            }
        }
        Ok(if began { Look::Began } else { Look::Idle })
    }

    /// Go through the endpoints, from where the last tour was left, until something began or all were seen.
    async fn tour(&self, looker: &mut Looker) -> Result<Look, LedgerError> {
        let from = Instant::now();
        loop {
            let page = self.parts.outbox.ready(looker.after, PAGE).await?;
            looker.after = if page.len() < PAGE as usize {
                None
            } else {
                page.last().map(|ready| ready.endpoint)
            };
            let look = self.begin_some(&page, looker).await?;
            if look == Look::Full {
                return Ok(look);
            }
            if looker.after.is_none() {
                // Where a hundred thousand endpoints wait for their retries a tour takes the store half a
                // second: it has as long to itself.
                let rest = self.parts.poll.max(from.elapsed());
                let now = Instant::now();
                looker.tour_at = now.checked_add(rest).unwrap_or(now);
                return Ok(look);
            }
            if look == Look::Began {
                return Ok(look);
            }
        }
    }

    /// Give free places to what is due at these endpoints.
    async fn begin_some(&self, page: &[Ready], looker: &mut Looker) -> Result<Look, LedgerError> {
        let parts = &*self.parts;
        let mut barren = HashSet::new();
        loop {
            let Some(free_bytes) = self.places.free_bytes() else {
                return Ok(Look::Full);
            };
            let now = Instant::now();
            let rates = &mut looker.rates;
            let wants = self.places.state().load.share(
                page,
                self.places.number(),
                &parts.health,
                now,
                |ready| {
                    if barren.contains(&ready.endpoint) {
                        return 0;
                    }
                    rates.begins(ready.endpoint, ready.limits.per_second, now)
                },
            );
            if wants.is_empty() {
                return Ok(Look::Idle);
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
                    looker.rates.spend(delivery.endpoint);
                }
                self.begin(taken, sent, page, &looker.cache);
                return Ok(Look::Began);
            }
            // What is due there waits behind a head, or others have all of its room. The places that it
            // did not use are for those that got none.
            barren.extend(asked);
        }
    }

    /// Begin what was leased by a statement sent at `sent`.
    fn begin(&self, taken: Taken, sent: Instant, page: &[Ready], cache: &Arc<Cache>) {
        let reputes: HashMap<EndpointId, Repute> = page
            .iter()
            .map(|ready| (ready.endpoint, ready.health.repute(&self.parts.health)))
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
                repute: reputes.get(&endpoint.id).copied().unwrap_or(Repute::Bad),
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

impl Looker {
    /// Who goes without a place is found by a tour, as soon as one is free.
    fn full(&mut self) -> Look {
        self.tour_at = Instant::now();
        Look::Full
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
