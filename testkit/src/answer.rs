//! What a receiver answered.

use bytes::Bytes;

/// An answer to a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The status code. `None` if there was no answer: the process crashed, or the connection ended.
    pub status: Option<u16>,
    /// `Content-Type`, where there is one.
    pub content_type: Option<String>,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// No answer.
    pub(crate) fn none() -> Self {
        Self {
            status: None,
            content_type: None,
            body: Bytes::new(),
        }
    }

    /// Whether a provider takes it for success.
    pub fn is_success(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether it is a refusal for good, which a provider may or may not repeat: 4xx.
    pub fn is_refusal(&self) -> bool {
        self.status
            .is_some_and(|status| (400..500).contains(&status))
    }
}
