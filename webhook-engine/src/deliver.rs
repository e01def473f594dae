//! One delivery: head, gates, raw body under its bounds, receipt, answer. All that an HTTP adapter asks for.

use std::fmt;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use tracing::Instrument as _;
use tracing::field::Empty;
use webhook_core::ledger::Ledger;
use webhook_core::{Head, Malformed, Outcome, Verifier};

use crate::budget::Share;
use crate::response::{Reception, Response};
use crate::shared::Site;
use crate::{gate, receive};

/// The answer to a request, and what of its body was not read.
#[non_exhaustive]
pub struct Delivered<B> {
    /// The answer.
    pub response: Response,
    /// With an unread body the connection cannot be used again: close it after the answer, and not before.
    pub unread: Option<B>,
}

/// Every chunk costs a turn of the event loop, however small it is: beyond this many of them they must
/// hold so many bytes on average.
const FREE_CHUNKS: usize = 2048;
const LEAST_CHUNK: usize = 64;
/// Most bytes of a refused body that are read and forgotten so that the sender sees the answer
/// instead of a reset connection, and the longest time for it.
const LINGER_BYTES: usize = 2 * 1024 * 1024;
const LINGER: Duration = Duration::from_secs(1);

/// Serve a request in a span of its own, and count it.
pub(crate) async fn deliver<L, B, E>(
    site: &Site<L>,
    head: Result<Head<'_>, Malformed>,
    tenant: Option<&str>,
    mut body: B,
) -> Delivered<B>
where
    L: Ledger,
    B: Stream<Item = Result<Bytes, E>> + Unpin,
{
    let began = Instant::now();
    let built = site.built();
    let span = tracing::info_span!(
        "webhook.delivery",
        endpoint = &*built.name,
        provider = built.provider.spec().name(),
        outcome = Empty,
        status = Empty,
        event_id = Empty,
        event_type = Empty,
        key_id = Empty,
        reason = Empty,
    );
    async {
        let (mut reception, unread) = match through(site, head, tenant, &mut body).await {
            Ok(reception) => (reception, None),
            Err(early) => {
                let drained = linger(&mut body).await;
                (early, (!drained).then_some(body))
            }
        };
        if built.provider.spec().refusals_are_final() {
            reception.invite();
        }
        observe(site, &reception, began);
        Delivered {
            response: reception.response,
            unread,
        }
    }
    .instrument(span)
    .await
}

/// The whole order. An `Err` is an answer with part of the body unread.
async fn through<L, B, E>(
    site: &Site<L>,
    head: Result<Head<'_>, Malformed>,
    tenant: Option<&str>,
    body: &mut B,
) -> Result<Reception, Reception>
where
    L: Ledger,
    B: Stream<Item = Result<Bytes, E>> + Unpin,
{
    let head = head.map_err(|malformed| Reception::rejected(malformed.into()))?;
    if head.method() != "POST" {
        return Err(gate::greet(site, &head));
    }
    let verifier = gate::admit(site, &head, tenant).await?;
    let (verifier, share) = read(site, verifier, body).await?;
    let certified = tokio::select! {
        biased;
        _ = share.evicted() => return Ok(site.reception(Outcome::Overloaded)),
        certified = gate::certify(site, verifier) => certified,
    };
    let verifier = match certified {
        Ok(verifier) => verifier,
        Err(refused) => return Ok(refused),
    };
    // Until here the body is a stranger's.
    drop(share);
    Ok(match verifier.finish(&head) {
        Ok(authentic) => receive::receive(site, authentic).await,
        Err(rejection) => Reception::rejected(rejection),
    })
}

/// Feed the wire bytes to the verifier within time, cap and budget. The share of the budget goes with it.
async fn read<L, B, E>(
    site: &Site<L>,
    mut verifier: Verifier,
    body: &mut B,
) -> Result<(Verifier, Share), Reception>
where
    L: Ledger,
    B: Stream<Item = Result<Bytes, E>> + Unpin,
{
    let share = site.shared.budget.open();
    let late = tokio::time::sleep(site.built().body_timeout);
    tokio::pin!(late);
    let (mut chunks, mut bytes) = (0usize, 0usize);
    loop {
        let chunk = tokio::select! {
            biased;
            _ = share.evicted() => return Err(site.reception(Outcome::Overloaded)),
            // Before the timer, which then is set only for bodies that are waited for. What is there
            // already is bounded by the cap.
            chunk = body.next() => match chunk {
                None => break,
                Some(Ok(chunk)) => chunk,
                Some(Err(_)) => return Err(site.reception(Outcome::Incomplete)),
            },
            () = &mut late => return Err(site.reception(Outcome::TooSlow)),
        };
        chunks = chunks.saturating_add(1);
        bytes = bytes.saturating_add(chunk.len());
        if chunks > FREE_CHUNKS && bytes.div_euclid(chunks) < LEAST_CHUNK {
            return Err(site.reception(Outcome::TooSlow));
        }
        share
            .charge(chunk.len())
            .map_err(|_| site.reception(Outcome::Overloaded))?;
        verifier.update(chunk).map_err(Reception::rejected)?;
    }
    Ok((verifier, share))
}

/// Read on for a moment and keep nothing; whether the body ended.
async fn linger<B, E>(body: &mut B) -> bool
where
    B: Stream<Item = Result<Bytes, E>> + Unpin,
{
    let mut left = LINGER_BYTES;
    let drain = async {
        while let Some(Ok(chunk)) = body.next().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(LINGER, drain).await.unwrap_or(false)
}

/// Count the answer and write it into the current span.
fn observe<L: Ledger>(site: &Site<L>, reception: &Reception, began: Instant) {
    let meters = &site.built().meters;
    let span = tracing::Span::current();
    span.record("outcome", reception.outcome.as_str());
    span.record("status", reception.response.status);
    if let Some(rejection) = &reception.rejection {
        span.record("reason", tracing::field::display(rejection));
        meters.outside_window(rejection);
    }
    if reception.response.status >= 400 {
        // The span says why. Not louder: anybody can be refused.
        tracing::debug!("delivery refused");
    }
    meters.delivery(reception.outcome, began.elapsed());
}

impl<B> fmt::Debug for Delivered<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivered")
            .field("response", &self.response)
            .field("unread", &self.unread.is_some())
            .finish()
    }
}
