//! Forgetting what can never come again: small batches, safe beside other replicas.

use std::sync::Arc;
use std::time::Duration;

use webhook_core::ledger::{IdentityRetention, Ledger, Retention};

use crate::built::Built;
use crate::keys::KeyStore;
use crate::shared::{Served, Shared};
use crate::telemetry;

/// Pause between two rounds; the first comes soon after the start, so that keys are seen to live.
const ROUND: Duration = Duration::from_mins(10);
/// Pause between two batches of a round: pruning never crowds out claims.
const BREATH: Duration = Duration::from_millis(100);
/// Rows a batch.
const BATCH: u32 = 1000;

/// Prune one endpoint, again and again, until the engine shuts down.
pub(crate) async fn prune<L: Ledger>(shared: Arc<Shared<L>>, served: Arc<Served<L::Conn>>) {
    let stop = &shared.life.dequeuing;
    let mut pause = ROUND.mul_f64(0.01);
    while stop
        .run_until_cancelled(tokio::time::sleep(
            pause.mul_f64(rand::random_range(0.5..1.0)),
        ))
        .await
        .is_some()
    {
        pause = match shared.ledger.prune(retention(&served.built)).await {
            Ok(pruned) if pruned.is_nothing() => ROUND,
            Ok(pruned) => {
                telemetry::pruned(&served.built.name, pruned);
                BREATH
            }
            Err(fault) => {
                tracing::warn!(endpoint = %served.built.name, fault = format_args!("{fault:#}"), "nothing could be pruned");
                telemetry::ledger_fault(&served.built.name, "prune");
                ROUND
            }
        };
    }
}

fn retention<C>(built: &Built<C>) -> Retention {
    let (live_keys, identities) = match (&built.keys, built.identities) {
        (KeyStore::Listed(listed), identities) => {
            (listed.current().fingerprints().collect(), identities)
        }
        // The keys of a source cannot be listed, so that none is ever known to be gone.
        (KeyStore::Source(_), IdentityRetention::WhileKeysLive(_)) => {
            (Vec::new(), IdentityRetention::Forever)
        }
        (KeyStore::Source(_), identities) => (Vec::new(), identities),
    };
    Retention::new(built.name.clone(), identities)
        .payloads(built.completed_payloads, built.other_payloads)
        .settled_quarantine(built.decisions)
        .live_keys(live_keys)
        .batch(BATCH)
}
