//! What the ledger's answers mean for the sender.

use webhook_core::ledger::LedgerError;
use webhook_core::{Claim, Outcome, Reply};

use crate::telemetry;

/// What a claim means for the sender.
pub(crate) fn outcome(endpoint: &str, claim: Claim) -> (Outcome, Option<Reply>) {
    match claim {
        Claim::Duplicate { reply } => (Outcome::Duplicate, reply),
        Claim::Quarantined(reason) => {
            telemetry::quarantined(endpoint, reason.as_str());
            tracing::warn!(endpoint, reason = reason.as_str(), "delivery quarantined");
            (Outcome::Quarantined, None)
        }
        Claim::Revived => (Outcome::Revived, None),
        Claim::Stored => (Outcome::Accepted, None),
        Claim::InFlight => (Outcome::InFlight, None),
        // Not understood is not acknowledged.
        _ => (Outcome::StoreUnavailable, None),
    }
}

/// The ledger's fault is the operator's business; the sender only learns to come again.
pub(crate) fn unavailable(endpoint: &str, fault: &LedgerError) -> Outcome {
    tracing::warn!(endpoint, %fault, "delivery not stored");
    Outcome::StoreUnavailable
}
