//! The loop that records how attempts ended: those that end together, in one transaction.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::sleep;
use webhook_core::outbox::{AttemptRecord, Outbox};

use super::Parts;
use super::places::Taken;
use crate::telemetry;

/// An attempt that ended, with its place: the next one begins when this one is on record.
pub(super) struct Ended {
    pub(super) record: AttemptRecord,
    /// When. Its lease began before.
    pub(super) at: Instant,
    pub(super) place: Taken,
}

/// Until the last sender is gone. What is waiting is bounded by the places.
pub(super) async fn run<O: Outbox>(parts: Arc<Parts<O>>, mut ended: UnboundedReceiver<Ended>) {
    let mut batch = Vec::new();
    while ended.recv_many(&mut batch, BATCH).await > 0 {
        let last = batch.iter().map(|ended: &Ended| ended.at).max();
        let (records, places): (Vec<_>, Vec<_>) = batch
            .drain(..)
            .map(|ended| (ended.record, ended.place))
            .unzip();
        record(&parts, records, last.unwrap_or_else(Instant::now)).await;
        drop(places);
    }
}

/// Try until the leases are over, the last of which began before `last`: then others make the attempts
/// again anyway.
async fn record<O: Outbox>(parts: &Parts<O>, records: Vec<AttemptRecord>, last: Instant) {
    records.iter().for_each(telemetry::attempt);
    loop {
        match parts.outbox.record(records.clone(), parts.health).await {
            Ok(recorded) => {
                for (record, _) in records
                    .iter()
                    .zip(&recorded.held)
                    .filter(|(_, held)| !**held)
                {
                    telemetry::lost();
                    tracing::warn!(
                        delivery = %record.share.delivery, endpoint = %record.endpoint,
                        "a lease was lost before its attempt was on record: it may be made again"
                    );
                }
                for (endpoint, change) in recorded.changes {
                    telemetry::changed(change);
                    match change.disables() {
                        Some(reason) => {
                            tracing::warn!(%endpoint, reason, "an endpoint is disabled");
                        }
                        None => {
                            tracing::info!(%endpoint, change = change.as_str(), "an endpoint's health changed");
                        }
                    }
                }
                return;
            }
            Err(error) if last.elapsed() < parts.lease => {
                tracing::warn!(%error, attempts = records.len(), "attempts could not be recorded yet");
                sleep(RETRY).await;
            }
            Err(error) => {
                tracing::error!(
                    %error, attempts = records.len(),
                    "attempts are not on record: they are made again"
                );
                return;
            }
        }
    }
}

const BATCH: usize = 256;
const RETRY: Duration = Duration::from_millis(200);
