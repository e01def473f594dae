//! Connections kept for the next request.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;

/// Idle connections, few and not for long.
pub(super) struct Pool {
    idle: Mutex<Idle>,
    limits: IdleLimits,
}

/// Whose connections may serve whom: one origin's, under one policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) origin: Arc<str>,
    pub(super) epoch: u64,
}

impl Pool {
    pub(super) fn new(limits: IdleLimits) -> Arc<Self> {
        Arc::new(Self {
            idle: Mutex::default(),
            limits,
        })
    }

    /// The connection that was used last: it is the likeliest to be alive.
    pub(super) fn take(&self, key: &Key) -> Option<Box<Connection>> {
        let now = Instant::now();
        let mut idle = self.lock();
        let kept = idle.connections.get_mut(key)?;
        let found = std::iter::from_fn(|| kept.pop()).find(|kept| !self.is_old(kept, now));
        if kept.is_empty() {
            idle.connections.remove(key);
        }
        found.map(|kept| kept.connection)
    }

    /// Keep `connection`, if there is room for it.
    pub(super) fn put(self: &Arc<Self>, key: Key, connection: Box<Connection>) {
        let now = Instant::now();
        let mut idle = self.lock();
        let has_room = idle.connections.values().map(Vec::len).sum::<usize>() < self.limits.total;
        let siblings = idle.connections.get(&key).map_or(0, Vec::len);
        let kept = Kept {
            connection,
            since: now,
        };
        let is_outdated = key.epoch < idle.epoch;
        if is_outdated || !has_room || siblings >= self.limits.per_origin || self.is_old(&kept, now)
        {
            return;
        }
        idle.connections.entry(key).or_default().push(kept);
        if !idle.is_swept {
            idle.is_swept = true;
            drop(idle);
            tokio::spawn(sweep(Sweeping(Arc::downgrade(self)), self.limits.age));
        }
    }

    /// Drop all connections of policies before `epoch`, and keep none of them from here on.
    pub(super) fn forget_before(&self, epoch: u64) {
        let mut idle = self.lock();
        idle.epoch = idle.epoch.max(epoch);
        idle.connections.retain(|key, _| key.epoch >= epoch);
    }

    /// Connections kept now.
    pub(super) fn len(&self) -> usize {
        self.lock().connections.values().map(Vec::len).sum()
    }

    fn is_old(&self, kept: &Kept, now: Instant) -> bool {
        now.duration_since(kept.since) >= self.limits.age
            || now.duration_since(kept.connection.opened()) >= self.limits.life
    }

    /// Whether none is left. Then, under the same lock, nobody sweeps any more: the next one that is
    /// kept sees to it.
    fn drop_old(&self) -> bool {
        let now = Instant::now();
        let mut idle = self.lock();
        idle.connections.retain(|_, kept| {
            kept.retain(|kept| !self.is_old(kept, now));
            !kept.is_empty()
        });
        idle.is_swept = !idle.connections.is_empty();
        !idle.is_swept
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("idle", &self.len())
            .field("limits", &self.limits)
            .finish()
    }
}

/// How many connections are kept for later requests, and for how long.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleLimits {
    /// Of one scheme, host and port. 0 keeps none.
    pub per_origin: usize,
    /// Altogether.
    pub total: usize,
    /// Since the last answer. Receivers often close after 5 s to a minute.
    pub age: Duration,
    /// Since it was opened; then the name is resolved, and judged, anew.
    pub life: Duration,
}

impl Default for IdleLimits {
    /// 8 of an origin, 256 altogether, 15 s idle, 2 minutes in all.
    fn default() -> Self {
        Self {
            per_origin: 8,
            total: 256,
            age: Duration::from_secs(15),
            life: Duration::from_mins(2),
        }
    }
}

#[derive(Default)]
struct Idle {
    connections: HashMap<Key, Vec<Kept>>,
    /// Of the current policy.
    epoch: u64,
    /// Whether somebody drops old ones while nobody asks.
    is_swept: bool,
}

struct Kept {
    connection: Box<Connection>,
    since: Instant,
}

/// Says so when it ends, however it ends: its runtime may be shut down.
struct Sweeping(Weak<Pool>);

impl Drop for Sweeping {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.lock().is_swept = false;
        }
    }
}

/// Drop old connections until none is left.
async fn sweep(mut sweeping: Sweeping, every: Duration) {
    loop {
        tokio::time::sleep(every.max(SHORTEST_SWEEP)).await;
        let Some(pool) = sweeping.0.upgrade() else {
            return;
        };
        if pool.drop_old() {
            // Said already, and perhaps the next one sweeps by now.
            sweeping.0 = Weak::new();
            return;
        }
    }
}

const SHORTEST_SWEEP: Duration = Duration::from_millis(100);
