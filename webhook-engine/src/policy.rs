//! What an application decides aloud about an endpoint.

use webhook_core::bounds::QUARANTINE_BYTES;

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

/// What is kept of an endpoint's deliveries in quarantine, and how they are answered.
///
/// Whatever it says, each content leaves one row: why, id, type and account, the digests of its content and of the
/// event it collides with, the key, how often it came and when. None of them runs before an operator
/// releases it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuarantinePolicy {
    payload_bytes: u64,
    is_refused: bool,
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

impl QuarantinePolicy {
    /// Keep payloads and the unsigned headers worth keeping, up to 64 MiB of payloads for the endpoint.
    /// Acknowledge. The default.
    pub const fn keep() -> Self {
        Self {
            payload_bytes: QUARANTINE_BYTES,
            is_refused: false,
        }
    }

    /// Keep no payload and no header: evidence alone. Such a delivery can be discarded; released only
    /// where its content is that of a stored event.
    pub const fn evidence() -> Self {
        Self::keep().payload_bytes(0)
    }

    /// Keep at most so many bytes of payloads for the endpoint. What comes beyond them leaves evidence alone.
    #[must_use]
    pub const fn payload_bytes(mut self, most: u64) -> Self {
        self.payload_bytes = most;
        self
    }

    /// Answer 409 instead of the provider's success: its dashboard then shows a failed delivery. Providers
    /// that retry will, and may turn an endpoint off that fails for long; each retry only counts.
    #[must_use]
    pub const fn refuse(mut self) -> Self {
        self.is_refused = true;
        self
    }

    pub(crate) const fn most_bytes(self) -> u64 {
        self.payload_bytes
    }

    pub(crate) const fn is_refused(self) -> bool {
        self.is_refused
    }
}

impl Default for QuarantinePolicy {
    fn default() -> Self {
        Self::keep()
    }
}
