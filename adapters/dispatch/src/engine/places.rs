//! The places of this process: what is under way, and its bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::fair::{Load, Place};
use crate::telemetry;

/// Places for attempts, bounded in number and in bytes.
#[derive(Debug)]
pub(crate) struct Places {
    number: u32,
    max_bytes: u64,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) load: Load,
    pub(crate) bytes: u64,
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
        state.load.enter(&place);
        state.bytes = state.bytes.saturating_add(bytes);
        telemetry::under_way(state.load.all());
        Taken {
            places: self.clone(),
            place,
            bytes,
        }
    }

    /// Wait until a place was freed since the last time.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.places.state();
        state.load.leave(&self.place);
        state.bytes = state.bytes.saturating_sub(self.bytes);
        telemetry::under_way(state.load.all());
        drop(state);
        self.places.freed.notify_one();
    }
}
