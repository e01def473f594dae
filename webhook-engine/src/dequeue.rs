//! The dequeue loop of one endpoint: due events are taken in batches, a moment ahead of the handlers.
//!
//! What waits for a place holds its lease by the same heartbeat as what runs. It does not wait for
//! long: when no place becomes free it is handed back, uncounted, and so it is at a shutdown.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use webhook_core::ledger::{Leased, Ledger, Take};

use crate::held::{Held, Hold};
use crate::pace::Pace;
use crate::shared::{Served, Shared};
use crate::{telemetry, worker};

/// Longest sleep between two looks into the inbox; a bell wakes the workers of this process earlier.
const POLL: Duration = Duration::from_millis(500);
/// Pause after the store failed.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// Longest wait of a taken event for its place.
const PATIENCE: Duration = Duration::from_secs(1);

/// An event that was taken.
pub(crate) struct Taken {
    pub(crate) leased: Leased,
    pub(crate) hold: Hold,
    since: Instant,
}

/// Events that were taken, in the order in which they run.
#[derive(Default)]
struct Line(Mutex<VecDeque<Taken>>);

/// Take events and let them run until the engine takes no more.
pub(crate) async fn dequeue<L: Ledger>(
    shared: Arc<Shared<L>>,
    served: Arc<Served<L::Conn>>,
    held: Arc<Held>,
) {
    let built = &served.built;
    let (line, pace) = (Arc::new(Line::default()), Arc::new(Pace::new()));
    let at_once = built.concurrency as usize;
    let places = Arc::new(Semaphore::new(at_once));
    let event_types = built.event_types();
    let stop = &shared.life.dequeuing;
    let mut has_suspect = false;
    while !stop.is_cancelled() {
        if line.has_stalled() {
            pace.stalled();
            hand_back(&shared, &served, &line).await;
        }
        let ahead = pace.ahead(at_once);
        let room = at_once.saturating_add(ahead).saturating_sub(held.count());
        if room < ahead.div_ceil(2).max(1) {
            tokio::select! {
                () = stop.cancelled() => {}
                () = held.freed.notified() => {}
                () = tokio::time::sleep(PATIENCE) => {}
            }
            continue;
        }
        // Whatever is taken beside the event that kills this process counts a crash: few at a time.
        let suspects = at_once.saturating_sub(held.count()).max(1);
        let want = Take::new(built.name.clone(), event_types.clone(), built.lease)
            .at_most(count(room))
            .max_abandoned(count(suspects))
            .max_crashes(built.max_crashes)
            .longest_pause(built.backoff.longest);
        let (sent, suspect_from) = (Instant::now(), want.suspect_from);
        let taken = match shared.ledger.take(want).await {
            Ok(taken) => taken,
            Err(fault) => {
                tracing::warn!(endpoint = %built.name, fault = format_args!("{fault:#}"), "events not taken");
                telemetry::ledger_fault(&built.name, "take");
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(STORE_PAUSE) => {}
                }
                continue;
            }
        };
        if taken.buried > 0 {
            tracing::error!(endpoint = %built.name, events = taken.buried, "events crashed too often");
            telemetry::dead(&built.name, taken.buried);
        }
        if taken.events.is_empty() {
            tokio::select! {
                () = stop.cancelled() => {}
                () = served.bell.notified() => {}
                // The next of an order key, or of those that crash, may run as soon as the one before it is done.
                () = held.freed.notified(), if built.is_ordered || has_suspect => {}
                () = tokio::time::sleep(POLL.mul_f64(rand::random_range(0.8..1.2))) => {}
            }
            has_suspect &= held.count() > 0;
            continue;
        }
        has_suspect |= taken
            .events
            .iter()
            .any(|leased| leased.crashes >= suspect_from);
        for leased in taken.events {
            line.join(Taken {
                hold: held.hold(leased.lease, sent, built.lease),
                leased,
                since: Instant::now(),
            });
            let turn = turn(
                shared.clone(),
                served.clone(),
                line.clone(),
                places.clone(),
                pace.clone(),
            );
            if let Some(runtimes) = shared.runtimes.get() {
                shared.life.work.spawn_on(turn, runtimes.handlers());
            }
        }
    }
    hand_back(&shared, &served, &line).await;
}

/// Wait for a place and run whoever is first in the line by then, if anybody is.
async fn turn<L: Ledger>(
    shared: Arc<Shared<L>>,
    served: Arc<Served<L::Conn>>,
    line: Arc<Line>,
    places: Arc<Semaphore>,
    pace: Arc<Pace>,
) {
    let Ok(permit) = places.acquire_owned().await else {
        return;
    };
    let Some(Taken { leased, hold, .. }) = line.first() else {
        return;
    };
    worker::run(&shared, &served, leased, &hold, &pace, permit).await;
}

/// Give back what waits in the line: nobody has begun with it.
async fn hand_back<L: Ledger>(shared: &Shared<L>, served: &Served<L::Conn>, line: &Line) {
    let waiting = line.leave();
    if waiting.is_empty() {
        return;
    }
    let leases = waiting.iter().map(|taken| taken.leased.lease).collect();
    if shared.ledger.hand_back(leases).await.is_err() {
        telemetry::ledger_fault(&served.built.name, "hand_back");
    }
}

impl Line {
    fn join(&self, taken: Taken) {
        self.with(|line| line.push_back(taken));
    }

    fn first(&self) -> Option<Taken> {
        self.with(VecDeque::pop_front)
    }

    fn leave(&self) -> VecDeque<Taken> {
        self.with(std::mem::take)
    }

    fn has_stalled(&self) -> bool {
        self.with(|line| {
            line.front()
                .is_some_and(|taken| taken.since.elapsed() > PATIENCE)
        })
    }

    fn with<T>(&self, f: impl FnOnce(&mut VecDeque<Taken>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn count(events: usize) -> u32 {
    u32::try_from(events).unwrap_or(u32::MAX)
}
