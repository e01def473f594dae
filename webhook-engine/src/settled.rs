//! What the ledger's answers mean for the sender.

use webhook_core::ledger::LedgerError;
use webhook_core::{Claim, Outcome, Quarantine, Reply};

use crate::built::Built;
use crate::telemetry;

/// What a claim means for the sender.
pub(crate) fn outcome<C>(built: &Built<C>, claim: Claim) -> (Outcome, Option<Reply>) {
    match claim {
        Claim::Duplicate { reply } => (Outcome::Duplicate, reply),
        Claim::Quarantined(reason) => (quarantined(built, reason), None),
        Claim::Revived => (Outcome::Revived, None),
        Claim::Stored => (Outcome::Accepted, None),
        Claim::InFlight => (Outcome::InFlight, None),
        // Not understood is not acknowledged.
        _ => (Outcome::StoreUnavailable, None),
    }
}

/// A delivery is in quarantine now: somebody should look at it.
pub(crate) fn quarantined<C>(built: &Built<C>, reason: Quarantine) -> Outcome {
    let (endpoint, reason) = (&*built.name, reason.as_str());
    telemetry::quarantined(endpoint, reason);
    tracing::warn!(endpoint, reason, "delivery quarantined");
    if built.quarantine.is_refused() {
        Outcome::QuarantineRefused
    } else {
        Outcome::Quarantined
    }
}

/// The ledger's fault is the operator's business; the sender only learns to come again.
pub(crate) fn unavailable(endpoint: &str, fault: &LedgerError) -> Outcome {
    let fault = format_args!("{fault:#}");
    tracing::warn!(endpoint, %fault, "delivery not stored");
    Outcome::StoreUnavailable
}

/// The ledger has not answered in time. What it was asked for may be done all the same: the sender
/// comes again and finds it.
pub(crate) fn late(endpoint: &str) -> Outcome {
    tracing::warn!(endpoint, "delivery not stored in time");
    Outcome::Deadline
}
