//! What came back.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::address::Passage;

/// What a receiver answered. For operators; customers get [`super::CustomerView`].
///
/// A redirect is an answer like any other: it is not followed.
#[non_exhaustive]
#[derive(Clone)]
pub struct Answer {
    /// The status, whatever became of the body.
    pub status: StatusCode,
    /// At most 64 headers; with the status line and all interim answers at most 16 KiB.
    pub headers: HeaderMap,
    /// The first 4 KiB of the body at most, as they came: never decompressed, perhaps not text.
    pub body: Bytes,
    /// Whether that is all of it.
    pub body_end: BodyEnd,
    /// The address that answered; with an egress proxy, the one it was told.
    pub address: SocketAddr,
    /// Why it was dialled.
    pub passage: Passage,
    /// Whether the connection had served an earlier request.
    pub is_reused: bool,
    /// How long it took.
    pub times: Times,
}

impl fmt::Debug for Answer {
    /// Without headers and body, which are the receiver's words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("body_bytes", &self.body.len())
            .field("body_end", &self.body_end)
            .field("address", &self.address)
            .field("passage", &self.passage)
            .field("is_reused", &self.is_reused)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

/// How reading a body ended.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyEnd {
    /// The receiver broke off, or broke the rules of its framing (RFC 9112 section 8).
    Broken,
    /// All of it was read.
    Complete,
    /// There was more, or more framing than a body of this size needs. The connection was dropped, not
    /// drained.
    Truncated,
}

/// Moments of a request, counted from the call of `send`.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// When the addresses were known; none for a kept connection.
    pub resolved: Option<Duration>,
    /// When TCP stood; none for a kept connection.
    pub connected: Option<Duration>,
    /// When TLS stood; none for a kept connection, and for plain http.
    pub secured: Option<Duration>,
    /// When the head of the answer was complete.
    pub answered: Duration,
    /// When the body was read, as far as it is.
    pub finished: Duration,
}
