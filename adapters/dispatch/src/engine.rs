//! What runs: fan-out, the pump, the recorder and the keeper, each a loop of its own.
//!
//! ```text
//! outbox ─ fan_out ─▶ deliveries ─ pump: ready, share, take ─▶ attempt ─▶ recorder ─▶ outbox
//!                        ▲                                                              │
//!                        └────────────── retry, rescue (keeper) ◀───────────────────────┘
//! ```

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use webhook_core::Clock;
use webhook_core::outbox::{HealthPolicy, Outbox, Retention};

use crate::guard::GuardedClient;
use crate::schedule::Schedule;
use crate::scheme::Schemes;
use crate::vault::Vault;

mod fan_out;
mod keeper;
mod places;
mod pump;
mod recorder;

use places::Places;

/// Everything a dispatcher is made of.
#[derive(Debug)]
pub(crate) struct Parts<O> {
    pub(crate) outbox: O,
    pub(crate) vault: Vault,
    pub(crate) client: GuardedClient,
    pub(crate) schemes: Schemes,
    pub(crate) schedule: Schedule,
    pub(crate) health: HealthPolicy,
    pub(crate) retention: Retention,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) places: u32,
    pub(crate) max_bytes: u64,
    pub(crate) poll: Duration,
    pub(crate) lease: Duration,
    pub(crate) slow_after: Duration,
    /// Rung when there may be events to fan out.
    pub(crate) news: Notify,
}

/// The loops.
pub(crate) struct Engine {
    stop: CancellationToken,
    loops: TaskTracker,
    attempts: TaskTracker,
    recorder: JoinHandle<()>,
}

impl Engine {
    pub(crate) fn start<O: Outbox>(runtime: &Handle, parts: &Arc<Parts<O>>) -> Self {
        let stop = CancellationToken::new();
        let (loops, attempts) = (TaskTracker::new(), TaskTracker::new());
        let places = Arc::new(Places::new(parts.places, parts.max_bytes));
        let (ended, to_record) = mpsc::unbounded_channel();
        let recorder = recorder::run(parts.clone(), to_record);
        let recorder = runtime.spawn(recorder);
        let pump = pump::Pump {
            parts: parts.clone(),
            places: places.clone(),
            attempts: attempts.clone(),
            ended,
        };
        let until = |stop: &CancellationToken| stop.clone();
        loops.spawn_on(pump.run(until(&stop)), runtime);
        loops.spawn_on(fan_out::run(parts.clone(), places, until(&stop)), runtime);
        loops.spawn_on(keeper::rescue(parts.clone(), until(&stop)), runtime);
        loops.spawn_on(keeper::prune(parts.clone(), until(&stop)), runtime);
        Self {
            stop,
            loops,
            attempts,
            recorder,
        }
    }

    /// Loops first, then attempts, whose ends the recorder waits for.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.loops.close();
        self.loops.wait().await;
        self.attempts.close();
        self.attempts.wait().await;
        if self.recorder.await.is_err() {
            tracing::error!("outcomes of attempts were not recorded: they are made again");
        }
    }
}

/// Wait, or hear that it is over: `false`.
async fn pause(stop: &CancellationToken, time: impl Future<Output = ()>) -> bool {
    tokio::select! {
        () = stop.cancelled() => false,
        () = time => true,
    }
}

/// How long a loop waits after an error of the store's.
const AFTER_ERROR: Duration = Duration::from_secs(1);
