//! The places of this process: what is under way, and its bytes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use webhook_core::outbox::EndpointId;

use crate::fair::{Load, Place};
use crate::telemetry;

/// Places for attempts, bounded in number and in bytes.
#[derive(Debug)]
pub(crate) struct Places {
    number: u32,
    max_bytes: u64,
    state: Mutex<State>,
    /// Rung when a place is free, or there is a hint.
    freed: Notify,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) load: Load,
    pub(crate) bytes: u64,
    hints: Hints,
}

/// Endpoints that may have something due and room for it: they got a delivery, or ended an attempt.
#[derive(Debug, Default)]
struct Hints {
    endpoints: HashSet<EndpointId>,
    /// There were more than are kept.
    are_too_many: bool,
}

/// A place that is taken, until this is dropped: whatever becomes of the attempt.
#[derive(Debug)]
pub(crate) struct Taken {
    places: Arc<Places>,
    place: Place,
    bytes: u64,
}

impl Places {
    pub(crate) fn new(number: u32, max_bytes: u64) -> Self {
        Self {
            number,
            max_bytes,
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another attempt may begin, and how many bytes it may bring.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let state = self.state();
        let is_full = state.load.all() >= self.number || state.bytes >= self.max_bytes;
        (!is_full).then(|| self.max_bytes.saturating_sub(state.bytes))
    }

    pub(crate) fn take(self: &Arc<Self>, place: Place, bytes: usize) -> Taken {
        let bytes = bytes as u64;
        let mut state = self.state();
        state.load.enter(&place, Instant::now());
        state.bytes = state.bytes.saturating_add(bytes);
        telemetry::under_way(state.load.all());
        Taken {
            places: self.clone(),
            place,
            bytes,
        }
    }

    /// These endpoints got deliveries.
    pub(crate) fn hint(&self, endpoints: &[EndpointId]) {
        if endpoints.is_empty() {
            return;
        }
        let mut state = self.state();
        for endpoint in endpoints {
            state.hints.add(*endpoint);
        }
        drop(state);
        self.freed.notify_one();
    }

    /// The hints since the last time; nothing if they were too many, so that all endpoints are to be looked
    /// at.
    pub(crate) fn hints(&self) -> Option<Vec<EndpointId>> {
        let hints = std::mem::take(&mut self.state().hints);
        (!hints.are_too_many).then(|| hints.endpoints.into_iter().collect())
    }

    /// Wait until a place was freed, or there was a hint, since the last time.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }
}

impl Hints {
    fn add(&mut self, endpoint: EndpointId) {
        if self.endpoints.len() < MOST_HINTS {
            self.endpoints.insert(endpoint);
        } else if !self.endpoints.contains(&endpoint) {
            self.are_too_many = true;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.places.state();
        state.load.leave(&self.place, Instant::now());
        state.bytes = state.bytes.saturating_sub(self.bytes);
        state.hints.add(self.place.endpoint);
        telemetry::under_way(state.load.all());
        drop(state);
        self.places.freed.notify_one();
    }
}

/// As many as a look at all endpoints has in a page.
const MOST_HINTS: usize = 512;
