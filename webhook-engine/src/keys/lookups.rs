//! Bounds of looking up tenants' keys.

use std::time::Duration;

/// Bounds of looking up tenants' keys.
///
/// | what | default |
/// | --- | --- |
/// | keys are used without asking again | 60 s |
/// | after that, while the source is unavailable | until 10 min after the last good answer |
/// | an unknown tenant is not asked for again | 5 s |
/// | remembered | the 10 000 tenants used last, at most twice as many; of unknown names likewise, apart |
/// | look-ups at once | 8 of strangers, 8 of known tenants |
/// | a look-up may take, with waiting for its place | 1 s, then 503 |
///
/// So a tenant's new key is to be in the source a minute before anything is signed with it, and one that is taken
/// out may verify for a minute more.
#[derive(Debug, Clone, Copy)]
pub struct Lookups {
    pub(super) fresh: Duration,
    pub(super) last_good: Duration,
    pub(super) unknown: Duration,
    pub(super) tenants: usize,
    pub(super) at_once: usize,
    pub(super) timeout: Duration,
}

impl Lookups {
    /// Use keys for this long without asking again.
    #[must_use]
    pub fn remember_for(mut self, length: Duration) -> Self {
        self.fresh = length;
        self
    }

    /// While the source is unavailable, use the last good keys for this long, counted from its last answer.
    #[must_use]
    pub fn last_good_for(mut self, length: Duration) -> Self {
        self.last_good = length;
        self
    }

    /// Refuse an unknown tenant for this long without asking again: a tenant that is entered then waits for it.
    #[must_use]
    pub fn unknown_for(mut self, length: Duration) -> Self {
        self.unknown = length;
        self
    }

    /// Remember so many tenants, the ones used last. Give it more than there are, or they push each other out.
    #[must_use]
    pub fn tenants(mut self, most: usize) -> Self {
        self.tenants = most;
        self
    }

    /// Run so many look-ups of strangers at once, and as many of tenants whose keys are known.
    #[must_use]
    pub fn at_once(mut self, most: usize) -> Self {
        self.at_once = most;
        self
    }

    /// Give a look-up this long, with waiting for its place.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }
}

impl Default for Lookups {
    fn default() -> Self {
        Self {
            fresh: Duration::from_mins(1),
            last_good: Duration::from_mins(10),
            unknown: Duration::from_secs(5),
            tenants: 10_000,
            at_once: 8,
            timeout: Duration::from_secs(1),
        }
    }
}
