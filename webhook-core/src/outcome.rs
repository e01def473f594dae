//! The closed list of what can become of a request. Feeds the answer, the metrics and the span.

use crate::verify::Rejection;

/// What became of a request.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Stored; a worker runs it.
    Accepted,
    /// Ran inside the request.
    Completed,
    /// Set aside as a dead letter inside the request: it must not come again by itself.
    DeadLettered,
    /// Not answered in time: the process is going down or stood still.
    Deadline,
    /// Completed before.
    Duplicate,
    /// Authentic, but signed too far ahead of our clock.
    FutureAuthentic,
    /// Signed too far ahead of our clock.
    Future,
    /// The inline handler failed; nothing was kept.
    HandlerFailed,
    /// A handshake was answered.
    Handshake,
    /// An unsigned handshake without the right word, or out of bounds.
    HandshakeRefused,
    /// No handler takes its type.
    Ignored,
    /// Another delivery of the event is at work.
    InFlight,
    /// The body ended before it was whole.
    Incomplete,
    /// Authentic, but no event.
    InvalidEvent,
    /// The keys cannot be looked up.
    KeysUnavailable,
    /// No envelope of the provider's grammar.
    Malformed,
    /// Authentic, but of an account or mode this endpoint does not serve.
    Outside,
    /// The engine was not started yet, or is going down.
    NotServing,
    /// Too many unauthenticated bytes are in flight.
    Overloaded,
    /// Kept in quarantine.
    Quarantined,
    /// Kept in quarantine, and refused, because the endpoint wants its provider to show it.
    QuarantineRefused,
    /// The event was dead and waits for its turn again.
    Revived,
    /// No live key matches.
    SignatureMismatch,
    /// Signed too long ago.
    Stale,
    /// Authentic, but signed too long ago.
    StaleAuthentic,
    /// The ledger is down or too slow.
    StoreUnavailable,
    /// The body is over the cap, under a plausible envelope: perhaps a lost event.
    TooLarge,
    /// The body is over the cap, and no envelope says it was meant for us.
    TooLargeUnsigned,
    /// The body did not arrive in time.
    TooSlow,
    /// It names only unknown or retired keys.
    UnknownKey,
    /// A content coding, or a media type, that the provider does not send.
    UnsupportedMedia,
}

/// How a request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the table of answers")]
pub enum Answer {
    /// The provider's success status.
    Success,
    /// This status with its one generic body.
    Refused(u16),
    /// 503 with a jittered `Retry-After`.
    Unavailable,
}

impl Outcome {
    /// Its name in metrics and spans.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Completed => "completed",
            Self::DeadLettered => "dead_lettered",
            Self::Deadline => "deadline",
            Self::Duplicate => "duplicate",
            Self::FutureAuthentic => "future_authentic",
            Self::Future => "future",
            Self::HandlerFailed => "handler_failed",
            Self::Handshake => "handshake",
            Self::HandshakeRefused => "handshake_refused",
            Self::Ignored => "ignored",
            Self::InFlight => "in_flight",
            Self::Incomplete => "incomplete",
            Self::InvalidEvent => "invalid_event",
            Self::KeysUnavailable => "keys_unavailable",
            Self::Malformed => "malformed",
            Self::NotServing => "not_serving",
            Self::Outside => "outside",
            Self::Overloaded => "overloaded",
            Self::Quarantined => "quarantined",
            Self::QuarantineRefused => "quarantine_refused",
            Self::Revived => "revived",
            Self::SignatureMismatch => "signature_mismatch",
            Self::Stale => "stale",
            Self::StaleAuthentic => "stale_authentic",
            Self::StoreUnavailable => "store_unavailable",
            Self::TooLarge => "too_large",
            Self::TooLargeUnsigned => "too_large_unsigned",
            Self::TooSlow => "too_slow",
            Self::UnknownKey => "unknown_key",
            Self::UnsupportedMedia => "unsupported_media",
        }
    }

    /// Whether a refusal may be of a genuine delivery, and pass when it comes again: a key that is not here yet, a clock, a
    /// connection.
    pub const fn may_pass_later(self) -> bool {
        matches!(
            self,
            Self::FutureAuthentic
                | Self::Incomplete
                | Self::SignatureMismatch
                | Self::StaleAuthentic
                | Self::TooSlow
                | Self::UnknownKey
        )
    }

    /// The answer it gets.
    pub const fn answer(self) -> Answer {
        match self {
            Self::Accepted
            | Self::Completed
            | Self::DeadLettered
            | Self::Duplicate
            | Self::Handshake
            | Self::Ignored
            | Self::InFlight
            | Self::Outside
            | Self::Quarantined
            | Self::Revived => Answer::Success,
            Self::FutureAuthentic
            | Self::Future
            | Self::Malformed
            | Self::SignatureMismatch
            | Self::Stale
            | Self::StaleAuthentic
            | Self::UnknownKey => Answer::Refused(401),
            Self::Incomplete | Self::InvalidEvent => Answer::Refused(400),
            Self::HandshakeRefused => Answer::Refused(403),
            Self::TooSlow => Answer::Refused(408),
            Self::QuarantineRefused => Answer::Refused(409),
            Self::TooLarge | Self::TooLargeUnsigned => Answer::Refused(413),
            Self::UnsupportedMedia => Answer::Refused(415),
            Self::Deadline
            | Self::HandlerFailed
            | Self::KeysUnavailable
            | Self::NotServing
            | Self::Overloaded
            | Self::StoreUnavailable => Answer::Unavailable,
        }
    }
}

impl From<Rejection> for Outcome {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Future {
                authentic: true, ..
            } => Self::FutureAuthentic,
            Rejection::Future { .. } => Self::Future,
            Rejection::Malformed(_) => Self::Malformed,
            Rejection::SignatureMismatch => Self::SignatureMismatch,
            Rejection::Stale {
                authentic: true, ..
            } => Self::StaleAuthentic,
            Rejection::Stale { .. } => Self::Stale,
            Rejection::TooLarge { .. } => Self::TooLarge,
            Rejection::UnknownKey => Self::UnknownKey,
        }
    }
}
