//! The loops of the engine: one of each kind an endpoint, and one that hears other processes.

use std::sync::Arc;

use webhook_core::ledger::Ledger;

use crate::dequeue::dequeue;
use crate::held::{Held, heartbeat};
use crate::pruner;
use crate::shared::{Served, Shared};

/// Start the endpoint's loops on the engine's control thread.
pub(crate) fn start<L: Ledger>(shared: &Arc<Shared<L>>, served: &Arc<Served<L::Conn>>) {
    let Some(runtimes) = shared.runtimes.get() else {
        return;
    };
    let held = Arc::new(Held::default());
    let beat = heartbeat(shared.clone(), served.clone(), held.clone());
    let take = dequeue(shared.clone(), served.clone(), held);
    shared.life.work.spawn_on(take, runtimes.control());
    runtimes.control().spawn(beat);
    let prune = pruner::prune(shared.clone(), served.clone());
    shared.life.work.spawn_on(prune, runtimes.control());
}

/// Ring the endpoints' bells when the ledger has word from another process.
pub(crate) fn listen<L: Ledger>(shared: &Arc<Shared<L>>) {
    let Some(runtimes) = shared.runtimes.get() else {
        return;
    };
    let shared = shared.clone();
    runtimes.control().spawn(async move {
        loop {
            let endpoint = tokio::select! {
                () = shared.life.dequeuing.cancelled() => return,
                endpoint = shared.ledger.arrival() => endpoint,
            };
            let served = shared
                .endpoints
                .iter()
                .find(|served| served.built.name == endpoint);
            if let Some(served) = served {
                served.bell.notify_one();
            }
        }
    });
}
