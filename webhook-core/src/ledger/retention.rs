//! What may be forgotten, and when.

use std::sync::Arc;
use std::time::Duration;

use crate::keyring::KeyFingerprint;

/// What one endpoint keeps. Only settled events are ever pruned; ages are the store's.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "an argument list with names")]
pub struct Retention {
    /// The endpoint's name.
    pub endpoint: Arc<str>,
    /// How long identities are remembered.
    pub identities: IdentityRetention,
    /// How long payloads of completed events are kept.
    pub completed_payloads: Duration,
    /// How long payloads of dead and ignored events, and settled quarantine, are kept.
    pub other_payloads: Duration,
    /// Keys that are live in this process now: the registry remembers when each was last seen.
    pub live_keys: Vec<KeyFingerprint>,
    /// Most rows one call touches.
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
#[expect(clippy::exhaustive_structs, reason = "counts")]
pub struct Pruned {
    /// Payloads dropped; their events stay known.
    pub payloads: u64,
    /// Events reduced to tombstones.
    pub buried: u64,
    /// Identities forgotten.
    pub forgotten: u64,
}

impl Pruned {
    /// Whether there was nothing left to do.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
