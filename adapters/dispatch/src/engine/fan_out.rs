//! The loop that makes deliveries of events.

use std::sync::Arc;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use webhook_core::outbox::Outbox;

use super::places::Places;
use super::{AFTER_ERROR, Parts, pause};
use crate::telemetry;

pub(super) async fn run<O: Outbox>(
    parts: Arc<Parts<O>>,
    places: Arc<Places>,
    stop: CancellationToken,
) {
    let mut batch = BATCH;
    loop {
        let wait = match parts.outbox.expand(batch).await {
            Ok(expanded) => {
                telemetry::expanded(&expanded);
                places.hint(&expanded.endpoints);
                batch = after_success(batch);
                if expanded.is_partial && !stop.is_cancelled() {
                    continue;
                }
                parts.poll
            }
            Err(error) => {
                tracing::warn!(%error, batch, "events could not be fanned out");
                batch = after_failure(batch);
                AFTER_ERROR
            }
        };
        let news = async {
            tokio::select! {
                () = sleep(wait) => {}
                () = parts.news.notified() => {}
            }
        };
        if !pause(&stop, news).await {
            return;
        }
    }
}

/// Fewer the next time: a statement for too many endpoints takes longer than the store allows, and would
/// hold up everybody's events for good.
fn after_failure(batch: u32) -> u32 {
    (batch / 2).max(1)
}

fn after_success(batch: u32) -> u32 {
    batch.saturating_mul(2).min(BATCH)
}

/// Events a statement: each may be for a thousand endpoints.
const BATCH: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_is_too_much_is_halved_down_to_one_event_and_grows_again() {
        let failures = std::iter::successors(Some(BATCH), |batch| Some(after_failure(*batch)));
        assert_eq!(
            failures.take(8).collect::<Vec<_>>(),
            [64, 32, 16, 8, 4, 2, 1, 1]
        );
        let successes = std::iter::successors(Some(1), |batch| Some(after_success(*batch)));
        assert_eq!(successes.take(8).last(), Some(BATCH));
    }
}
