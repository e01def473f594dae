//! What goes back over the wire, for any HTTP adapter.

use bytes::Bytes;
use webhook_core::{Answer, Handshake, Outcome, Rejection, Reply};

/// An answer to a delivery.
///
/// Refusals of one status are equal byte for byte: they say nothing about why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// `Content-Type`, if there is a body.
    pub content_type: Option<String>,
    /// `Retry-After`, in seconds.
    pub retry_after_secs: Option<u64>,
    /// The body.
    pub body: Bytes,
}

/// What became of a request, and the answer.
#[derive(Debug, Clone)]
pub(crate) struct Reception {
    /// For metrics and spans.
    pub(crate) outcome: Outcome,
    /// For the sender.
    pub(crate) response: Response,
    /// For the span: why it was refused, in the words of a closed list.
    pub(crate) rejection: Option<Rejection>,
}

impl Reception {
    /// The standard answer to `outcome`.
    pub(crate) fn of(outcome: Outcome, success: u16) -> Self {
        let response = match outcome.answer() {
            Answer::Success => Response::empty(success),
            Answer::Refused(status) => Response::refusal(status, None),
            Answer::Unavailable => Response::unavailable(),
        };
        Self {
            outcome,
            response,
            rejection: None,
        }
    }

    /// The answer to a rejection.
    pub(crate) fn rejected(rejection: Rejection) -> Self {
        Self {
            rejection: Some(rejection),
            // Never a success: the status does not matter.
            ..Self::of(rejection.into(), 200)
        }
    }

    /// To a sender that never comes again after a refusal, what may pass later is said to be unavailable.
    pub(crate) fn invite(&mut self) {
        if self.outcome.may_pass_later() {
            self.response = Response::unavailable();
        }
    }

    /// The answer to a handshake.
    pub(crate) fn handshake(handshake: Handshake) -> Self {
        let response = if handshake.is_no_content() {
            Response::empty(204)
        } else {
            Response {
                content_type: Some(handshake.content_type.to_owned()),
                body: handshake.body,
                ..Response::empty(200)
            }
        };
        Self {
            outcome: Outcome::Handshake,
            response,
            rejection: None,
        }
    }

    /// A success that says what the handler said.
    pub(crate) fn reply(outcome: Outcome, success: u16, reply: &Reply) -> Self {
        Self {
            outcome,
            response: Response {
                content_type: reply.content_type().map(str::to_owned),
                body: reply.body().clone(),
                ..Response::empty(success)
            },
            rejection: None,
        }
    }
}

impl Response {
    const fn empty(status: u16) -> Self {
        Self {
            status,
            content_type: None,
            retry_after_secs: None,
            body: Bytes::new(),
        }
    }

    fn unavailable() -> Self {
        Self::refusal(503, Some(rand::random_range(2..=10)))
    }

    fn refusal(status: u16, retry_after_secs: Option<u64>) -> Self {
        Self {
            content_type: Some("text/plain; charset=utf-8".to_owned()),
            retry_after_secs,
            body: Bytes::from_static(b"refused\n"),
            ..Self::empty(status)
        }
    }
}
