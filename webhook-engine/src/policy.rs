//! What an application decides aloud about an endpoint.

/// What a body is that repeats byte for byte under a new *unsigned* id, for the types whose
/// provider sends such repeats with no replay intended.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// Taken for a replay: kept in quarantine, not run.
    Quarantine,
    /// A new event: whoever captured one request can run it again.
    Run,
}

/// What happens to an event of a type that no handler takes.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlisted {
    /// Acknowledged, counted and forgotten.
    Acknowledge,
    /// Stored as ignored: it can be replayed once a handler takes it, for example when a deploy is
    /// half-way and this replica does not know the type yet.
    Store,
}

/// What happens when an inline handler fails.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Store the event and let workers retry it.
    Inbox,
    /// Keep nothing and answer 503: the provider retries.
    Refuse,
}
