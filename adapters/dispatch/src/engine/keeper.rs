//! Loops that keep house: leases that ran out, and what is old.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use webhook_core::outbox::Outbox;

use super::{Parts, pause};
use crate::telemetry;

/// Let others' lost deliveries be due again.
pub(super) async fn rescue<O: Outbox>(parts: Arc<Parts<O>>, stop: CancellationToken) {
    while pause(&stop, sleep(RESCUE_EVERY)).await {
        match parts.outbox.rescue(parts.schedule.attempts(), BATCH).await {
            Ok(0) => {}
            Ok(rescued) => {
                telemetry::rescued(rescued);
                tracing::warn!(
                    rescued,
                    "leases ran out: attempts that may have arrived are made again"
                );
            }
            Err(error) => tracing::warn!(%error, "leases that ran out could not be looked for"),
        }
    }
}

/// Give up and forget.
pub(super) async fn prune<O: Outbox>(parts: Arc<Parts<O>>, stop: CancellationToken) {
    while pause(&stop, sleep(PRUNE_EVERY)).await {
        recall(&parts).await;
        loop {
            match parts.outbox.prune(parts.retention).await {
                Ok(pruned) => {
                    telemetry::pruned(pruned);
                    if pruned.is_nothing() {
                        break;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the outbox could not be pruned");
                    break;
                }
            }
            // Others write meanwhile.
            if !pause(&stop, sleep(BETWEEN_BATCHES)).await {
                return;
            }
        }
    }
}

/// Let go on what waits by a clock that was set back.
async fn recall<O: Outbox>(parts: &Parts<O>) {
    let (pause, open) = (parts.schedule.longest_pause(), parts.health.longest_pause);
    match parts.outbox.recall(pause, open, BATCH).await {
        Ok(0) => {}
        Ok(recalled) => tracing::warn!(
            recalled,
            "deliveries or breakers waited longer than any pause: was the store's clock set back?"
        ),
        Err(error) => tracing::warn!(%error, "pauses that are too long could not be looked for"),
    }
}

const RESCUE_EVERY: Duration = Duration::from_secs(1);
const PRUNE_EVERY: Duration = Duration::from_mins(1);
const BETWEEN_BATCHES: Duration = Duration::from_millis(50);
const BATCH: u32 = 1000;
