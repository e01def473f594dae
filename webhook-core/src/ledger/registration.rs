//! What a process is about to serve, and what the store has to say to it.

use std::sync::Arc;

use crate::clock::Clock;
use crate::keyring::KeyFingerprint;

/// The endpoints and keys a process is about to serve.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Registration {
    /// One entry an endpoint.
    pub endpoints: Vec<RegisteredEndpoint>,
    /// What the store's clock is compared with; without it, it is not.
    pub clock: Option<Arc<dyn Clock>>,
}

/// An endpoint as the ledger knows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegisteredEndpoint {
    /// Its stable name.
    pub name: Arc<str>,
    /// Its keys.
    pub keys: Vec<KeyFingerprint>,
    /// Whether its keys may stand at other endpoints too.
    pub secret_is_shared: bool,
}

/// Something an operator should know at start.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Notice {
    /// Events wait for an endpoint that neither this process serves nor, as far as its keys tell, another.
    #[error("{waiting} events wait for endpoint `{endpoint}`, which nobody serves")]
    Orphans {
        /// The endpoint's name.
        endpoint: String,
        /// How many.
        waiting: u64,
    },
    /// A key of this endpoint was registered for another one.
    #[error("a key of endpoint `{endpoint}` is also registered for `{other}`")]
    SharedKey {
        /// Served here.
        endpoint: String,
        /// The other.
        other: String,
    },
}

impl Registration {
    /// Of these endpoints.
    pub fn new(endpoints: Vec<RegisteredEndpoint>) -> Self {
        Self {
            endpoints,
            clock: None,
        }
    }

    /// Compare the store's clock with this one: leases are the store's, signed timestamps are judged
    /// by this one.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }
}

impl RegisteredEndpoint {
    /// An endpoint and its keys.
    pub fn new(name: Arc<str>, keys: Vec<KeyFingerprint>, secret_is_shared: bool) -> Self {
        Self {
            name,
            keys,
            secret_is_shared,
        }
    }
}
