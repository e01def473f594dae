//! The loop that makes deliveries of events.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use webhook_core::outbox::Outbox;

use super::{AFTER_ERROR, Parts, pause};
use crate::telemetry;

pub(super) async fn run<O: Outbox>(
    parts: Arc<Parts<O>>,
    due: Arc<Notify>,
    stop: CancellationToken,
) {
    loop {
        let wait = match parts.outbox.expand(BATCH).await {
            Ok(expanded) => {
                telemetry::expanded(expanded);
                if expanded.deliveries > 0 {
                    due.notify_one();
                }
                if expanded.events == u64::from(BATCH) && !stop.is_cancelled() {
                    continue;
                }
                parts.poll
            }
            Err(error) => {
                tracing::warn!(%error, "events could not be fanned out");
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

/// Events a statement: each may be for a thousand endpoints.
const BATCH: u32 = 64;
