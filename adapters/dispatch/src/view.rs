//! What a customer may see of attempts to reach an endpoint of their choice.

use bytes::Bytes;
use webhook_core::outbox::{Attempt, AttemptClass};

/// An attempt as a customer sees it. The operator's view is [`Attempt`] itself.
///
/// It is the same for a port that is open, closed or filtered, for what the policy refuses, for a name
/// that is unknown, for TLS that fails and for time that ran out; it has no address and no duration.
/// Otherwise whoever registers endpoints scans networks through us.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomerAttempt {
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// When it ended, in Unix seconds.
    pub ended_at: i64,
    /// How it ended.
    pub outcome: CustomerOutcome,
}

/// How an attempt ended, as a customer sees it.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomerOutcome {
    /// Accepted, by a receiver whose answer is not shown: it stands where the operator alone may look.
    Accepted,
    /// The receiver's own answer.
    Answered {
        /// Its status.
        status: u16,
        /// The first 4 KiB of its body at most. Bytes from a stranger: escape them.
        body: Bytes,
    },
    /// Everything else.
    NotDelivered,
}

impl From<&Attempt> for CustomerAttempt {
    fn from(attempt: &Attempt) -> Self {
        let outcome = match attempt.status {
            Some(status) if !attempt.was_allow_listed => CustomerOutcome::Answered {
                status,
                body: attempt.answer.clone(),
            },
            _ if attempt.class == AttemptClass::Delivered => CustomerOutcome::Accepted,
            _ => CustomerOutcome::NotDelivered,
        };
        Self {
            attempt: attempt.attempt,
            ended_at: attempt.ended_at_millis.div_euclid(1000),
            outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use webhook_core::outbox::{AttemptId, DeliveryId};

    use super::*;

    fn seen(class: AttemptClass, status: Option<u16>, was_allow_listed: bool) -> CustomerOutcome {
        let mut attempt = Attempt::new(AttemptId::new(1), DeliveryId::new(1), class);
        attempt.ended_at_millis = 1_999;
        attempt.status = status;
        attempt.was_allow_listed = was_allow_listed;
        attempt.took = Duration::from_secs(1);
        attempt.answer = "root:x:0:0".into();
        let view = CustomerAttempt::from(&attempt);
        assert_eq!(view.ended_at, 1);
        view.outcome
    }

    #[test]
    fn failures_look_alike() {
        for class in [
            AttemptClass::Connect,
            AttemptClass::Dns,
            AttemptClass::Protocol,
            AttemptClass::Refused,
            AttemptClass::Signing,
            AttemptClass::TimedOut,
            AttemptClass::Tls,
            AttemptClass::Unknown,
        ] {
            assert_eq!(seen(class, None, false), CustomerOutcome::NotDelivered);
        }
    }

    #[test]
    fn what_stands_behind_an_allow_list_shows_nothing_of_itself() {
        let not = seen(AttemptClass::Answer, Some(500), true);
        assert_eq!(not, CustomerOutcome::NotDelivered);
        let accepted = seen(AttemptClass::Delivered, Some(200), true);
        assert_eq!(accepted, CustomerOutcome::Accepted);
        let public = seen(AttemptClass::Answer, Some(500), false);
        assert!(matches!(
            public,
            CustomerOutcome::Answered { status: 500, .. }
        ));
    }
}
