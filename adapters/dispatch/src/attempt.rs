//! One attempt: signed when the connection is held, sent, and judged by its answer.

use std::time::{Duration, Instant};

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use webhook_core::Clock;
use webhook_core::outbox::{AttemptClass, AttemptRecord, Delivery, Next};

use crate::guard::{Answer, GuardedClient, GuardedRequest, Passage, SendError};
use crate::prepared::{Prepared, Unprepared};
use crate::schedule::{Schedule, retry_after};

/// What an attempt needs.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    pub(crate) client: &'a GuardedClient,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) schedule: &'a Schedule,
    /// A success that takes longer counts against its endpoint.
    pub(crate) slow_after: Duration,
}

/// Make one attempt. Always ends: the client has a deadline.
pub(crate) async fn attempt(
    means: &Means<'_>,
    delivery: &Delivery,
    prepared: Result<&Prepared, Unprepared>,
) -> AttemptRecord {
    let from = Instant::now();
    let mut record = AttemptRecord::new(delivery, AttemptClass::Unknown, Next::Dead);
    let outcome = match prepared.and_then(|prepared| Ok((prepared, request(prepared, delivery)?))) {
        Ok((prepared, request)) => {
            let sign = || sign(means.clock, prepared, delivery);
            means.client.send(&request, sign).await
        }
        Err(fault) => {
            tracing::error!(endpoint = %delivery.endpoint, %fault, "an endpoint cannot be sent to");
            record.class = fault.class();
            record.next = means.schedule.after_failure(delivery.attempt, None, None);
            record.took = from.elapsed();
            return record;
        }
    };
    record.took = from.elapsed();
    match outcome {
        Ok(answer) => judge(means, &mut record, answer),
        Err(error) => {
            record.class = class(&error);
            record.next = means.schedule.after_failure(delivery.attempt, None, None);
            tracing::debug!(
                endpoint = %delivery.endpoint, event = %delivery.event, attempt = delivery.attempt,
                error = &error as &dyn std::error::Error, "an attempt failed"
            );
        }
    }
    record
}

fn request(prepared: &Prepared, delivery: &Delivery) -> Result<GuardedRequest, Unprepared> {
    let json = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let post = GuardedRequest::post(prepared.target.clone(), delivery.payload.clone());
    std::iter::once(&json)
        .chain(&prepared.headers)
        .try_fold(post, |post, (name, value)| {
            post.header(name.clone(), value.clone())
        })
        .map_err(|_| Unprepared::Malformed)
}

fn sign(clock: &dyn Clock, prepared: &Prepared, delivery: &Delivery) -> HeaderMap {
    prepared.scheme.sign(
        &prepared.keys,
        delivery.event.as_str(),
        &delivery.event_type,
        &delivery.payload,
        clock.unix_secs(),
    )
}

fn judge(means: &Means<'_>, record: &mut AttemptRecord, answer: Answer) {
    let status = answer.status.as_u16();
    record.status = Some(status);
    record.address = Some(answer.address.ip());
    record.was_allow_listed = answer.passage == Passage::AllowListed;
    record.was_slow = record.took > means.slow_after;
    record.answer = answer.body;
    // Whether the body ended well is no matter: the head said what became of the delivery.
    if answer.status.is_success() {
        record.class = AttemptClass::Delivered;
        record.next = Next::Delivered;
        return;
    }
    record.class = AttemptClass::Answer;
    record.is_gone = status == 410;
    let asked = matches!(status, 429 | 503)
        .then(|| answer.headers.get(RETRY_AFTER))
        .flatten()
        .and_then(|value| retry_after(value.as_bytes(), means.clock.unix_secs()));
    record.next = if record.is_gone {
        Next::Dead
    } else {
        means
            .schedule
            .after_failure(record.attempt, record.status, asked)
    };
}

fn class(error: &SendError) -> AttemptClass {
    match error {
        SendError::Closed | SendError::Unreachable(_) => AttemptClass::Connect,
        SendError::HeadTooLarge | SendError::Malformed => AttemptClass::Protocol,
        SendError::Refused(_) | SendError::ReservedHeader(_) => AttemptClass::Refused,
        SendError::TimedOut(_) => AttemptClass::TimedOut,
        SendError::Tls(_) => AttemptClass::Tls,
        SendError::Unresolved(_) => AttemptClass::Dns,
    }
}
