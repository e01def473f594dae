//! What may be forgotten, and when.

use std::sync::Arc;
use std::time::Duration;

use crate::keyring::KeyFingerprint;

/// What one endpoint keeps. Only settled events are ever pruned; ages are the store's.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Retention {
    /// The endpoint's name.
    pub endpoint: Arc<str>,
    /// How long identities are remembered.
    pub identities: IdentityRetention,
    /// How long payloads of completed events are kept. Default: 7 days.
    pub completed_payloads: Duration,
    /// How long payloads of dead and ignored events, and of settled quarantine, are kept. Default: 30 days.
    pub other_payloads: Duration,
    /// How long settled quarantine is remembered at least, counted from when it was decided on or came
    /// last. Default: 90 days.
    ///
    /// Never for less long than its identity is, so that what was decided on once is not asked again:
    /// by then nobody can present it any more.
    pub settled_quarantine: Duration,
    /// Keys that are live in this process now: the registry remembers when each was last seen.
    pub live_keys: Vec<KeyFingerprint>,
    /// Most rows of a kind that one call touches. Default: 1000.
    pub batch: u32,
}

/// How long the identities of an endpoint's completed events are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an age, the keys' life, or for ever"
)]
pub enum IdentityRetention {
    /// This long after the event was last seen: longer than its provider can present it again.
    For(Duration),
    /// For ever: it is not known how long the provider can present it again.
    Forever,
    /// As long as a key lives that could have signed it, and this long after: without a signed
    /// timestamp a captured request is good until then. Kept as tombstones once the payload is gone.
    WhileKeysLive(Duration),
}

/// What one call forgot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Payloads dropped; their events stay known.
    pub payloads: u64,
    /// Events reduced to tombstones.
    pub buried: u64,
    /// Identities forgotten.
    pub forgotten: u64,
    /// Settled quarantine forgotten.
    pub decisions: u64,
}

impl Retention {
    /// What the endpoint of this name keeps: identities for so long, and all else for the defaults.
    pub fn new(endpoint: impl Into<Arc<str>>, identities: IdentityRetention) -> Self {
        Self {
            endpoint: endpoint.into(),
            identities,
            completed_payloads: Duration::from_hours(7 * 24),
            other_payloads: Duration::from_hours(30 * 24),
            settled_quarantine: Duration::from_hours(90 * 24),
            live_keys: Vec::new(),
            batch: 1000,
        }
    }

    /// How long payloads are kept: of completed events, and of others.
    #[must_use]
    pub fn payloads(mut self, completed: Duration, others: Duration) -> Self {
        self.completed_payloads = completed;
        self.other_payloads = others;
        self
    }

    /// How long settled quarantine is remembered at least.
    #[must_use]
    pub fn settled_quarantine(mut self, age: Duration) -> Self {
        self.settled_quarantine = age;
        self
    }

    /// Keys that are live in this process now.
    #[must_use]
    pub fn live_keys(mut self, keys: Vec<KeyFingerprint>) -> Self {
        self.live_keys = keys;
        self
    }

    /// Most rows of a kind that one call touches.
    #[must_use]
    pub fn batch(mut self, rows: u32) -> Self {
        self.batch = rows;
        self
    }
}

impl Pruned {
    /// Whether there was nothing left to do.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
