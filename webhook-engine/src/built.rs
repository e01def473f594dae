//! An endpoint whose configuration was checked.

use std::sync::Arc;
use std::time::Duration;

use webhook_core::ledger::{EventTypes, IdentityRetention, LONGEST_LEASE, TxLimits};
use webhook_core::{ClaimScope, DynProvider, Mode, Window};

use crate::backoff::Backoff;
use crate::erased::Erased;
use crate::handlers::Handlers;
use crate::keys::KeyStore;
use crate::policy::{OnFailure, QuarantinePolicy, Unlisted};
use crate::telemetry::Meters;

/// An endpoint after `build()`.
pub(crate) struct Built<C> {
    pub(crate) name: Arc<str>,
    pub(crate) path: String,
    pub(crate) provider: Arc<dyn DynProvider>,
    pub(crate) keys: KeyStore,
    pub(crate) meters: Meters,
    pub(crate) scope: ClaimScope,
    pub(crate) secret_is_shared: bool,
    pub(crate) is_ordered: bool,
    pub(crate) window: Window,
    pub(crate) max_body_bytes: usize,
    pub(crate) body_timeout: Duration,
    pub(crate) acknowledge_within: Duration,
    pub(crate) inline_deadline: Duration,
    pub(crate) max_transaction: Duration,
    pub(crate) max_attempt: Duration,
    pub(crate) lease: Duration,
    pub(crate) concurrency: u32,
    pub(crate) max_failures: u32,
    pub(crate) max_crashes: u32,
    pub(crate) backoff: Backoff,
    pub(crate) on_failure: OnFailure,
    pub(crate) unlisted: Unlisted,
    pub(crate) quarantine: QuarantinePolicy,
    pub(crate) identities: IdentityRetention,
    pub(crate) completed_payloads: Duration,
    pub(crate) other_payloads: Duration,
    pub(crate) decisions: Duration,
    pub(crate) handlers: Handlers<C>,
}

/// How long a run may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunLimits {
    /// From start to end.
    pub(crate) whole: Duration,
    /// From the moment its transaction is open.
    pub(crate) transaction: Duration,
}

impl<C> Built<C> {
    /// The handler of an event type, if one takes it.
    pub(crate) fn handler(&self, event_type: &str) -> Option<&Arc<dyn Erased<C>>> {
        self.handlers.get(event_type)
    }

    /// Bounds of a worker's transaction.
    pub(crate) fn worker_limits(&self) -> TxLimits {
        TxLimits::new(self.max_transaction, self.lease)
    }

    /// Bounds of one run of a handler.
    pub(crate) fn run_limits(&self) -> RunLimits {
        RunLimits {
            whole: self.max_attempt,
            transaction: self.max_transaction,
        }
    }

    /// The types workers of this process can run: inline ones too, since they may have fallen back.
    pub(crate) fn event_types(&self) -> EventTypes {
        self.handlers.event_types()
    }

    pub(crate) fn is_inline(&self, event_type: &str) -> bool {
        self.handler(event_type)
            .is_some_and(|handler| handler.spec().mode == Mode::Inline)
    }

    pub(crate) fn check_bounds(&self) -> Result<(), &'static str> {
        if self.lease < Duration::from_secs(1) || self.lease > LONGEST_LEASE {
            return Err("the lease must be between 1 second and 1 hour");
        }
        let positive = [
            self.body_timeout,
            self.acknowledge_within,
            self.inline_deadline,
            self.max_transaction,
            self.max_attempt,
            self.backoff.first,
        ];
        if positive.iter().any(Duration::is_zero) {
            return Err("a time limit of zero");
        }
        if self.max_transaction > self.lease.div_f64(2.0) {
            return Err("`max_transaction` must be at most half the lease");
        }
        if self.inline_deadline > self.lease.mul_f64(0.75) {
            return Err("`inline_deadline` must be at most three quarters of the lease");
        }
        if self.backoff.longest < self.backoff.first {
            return Err("the longest backoff is shorter than the first");
        }
        if self.concurrency == 0 || self.max_failures == 0 || self.max_crashes == 0 {
            return Err("concurrency and attempts must be at least 1");
        }
        if self.max_body_bytes == 0 {
            return Err("a body cap of zero");
        }
        Ok(())
    }
}
