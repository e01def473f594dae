//! Why there is no answer: for operators in detail, for customers not at all.

use std::io;

use http::StatusCode;

use super::address::Passage;
use super::answer::Answer;
use super::policy::Refused;
use super::request::ReservedHeader;
use super::resolve::ResolveFault;
use super::tls::TlsFault;

/// Why there is no answer. For operators and their logs: it says what our network looks like from the
/// inside, so customers get [`CustomerView`] instead.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The connection ended before an answer.
    #[error("the receiver closed the connection before it answered")]
    Closed,
    /// More than 16 KiB before the end of the head, interim answers included.
    #[error("the head of the answer is too large")]
    HeadTooLarge,
    /// The answer is not HTTP/1, or has more than 64 headers.
    #[error("the answer is not HTTP/1, or has too many headers")]
    Malformed,
    /// The policy forbids it.
    #[error("refused by policy")]
    Refused(#[from] Refused),
    /// The signature came in a header that it cannot have.
    #[error("a header cannot be sent")]
    ReservedHeader(#[from] ReservedHeader),
    /// The deadline, in this phase.
    #[error("timed out: {0:?}")]
    TimedOut(Phase),
    /// No TLS.
    #[error("no TLS with the receiver")]
    Tls(#[from] TlsFault),
    /// No connection to any address of the host; the last call failed so.
    #[error("cannot connect: {0}")]
    Unreachable(io::ErrorKind),
    /// The host has no addresses.
    #[error("cannot resolve the host")]
    Unresolved(#[from] ResolveFault),
}

impl SendError {
    /// Whether the receiver may have the request all the same, and have acted on it.
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Self::Closed | Self::HeadTooLarge | Self::Malformed => true,
            Self::TimedOut(phase) => matches!(phase, Phase::Answer | Phase::Body),
            Self::Refused(_)
            | Self::ReservedHeader(_)
            | Self::Tls(_)
            | Self::Unreachable(_)
            | Self::Unresolved(_) => false,
        }
    }
}

/// What was waited for.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The addresses.
    Resolve,
    /// TCP.
    Connect,
    /// TLS.
    Tls,
    /// The head of the answer; the request was under way.
    Answer,
    /// The rest of the body; a status was received.
    Body,
}

/// What a customer may see of a delivery to an endpoint of their choice.
///
/// It is the same for a port that is open, closed or filtered, for what the policy refuses, for a name that
/// is unknown, for TLS that fails and for time that ran out: otherwise whoever registers endpoints scans
/// networks through us. Show it without durations, which tell the same apart.
///
/// Answers from addresses that passed by an allow-list alone show no more than whether the delivery was
/// accepted: what stands there is the operator's, not the customer's.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomerView<'a> {
    /// Accepted by a receiver whose answer is not shown.
    Accepted,
    /// The receiver's own answer.
    Answered {
        /// Its status.
        status: StatusCode,
        /// The first 4 KiB of its body at most. Bytes from a stranger: escape them.
        body: &'a [u8],
    },
    /// Everything else.
    NotDelivered,
}

impl<'a> CustomerView<'a> {
    /// The customer's view of what [`super::GuardedClient::send`] returned.
    pub fn of(outcome: &'a Result<Answer, SendError>) -> Self {
        match outcome {
            Ok(answer) => match answer.passage {
                Passage::Public => Self::Answered {
                    status: answer.status,
                    body: &answer.body,
                },
                Passage::AllowListed if answer.status.is_success() => Self::Accepted,
                Passage::AllowListed => Self::NotDelivered,
            },
            Err(_) => Self::NotDelivered,
        }
    }
}
