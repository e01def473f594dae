//! Counters and histograms, through the `metrics` facade. Labels are of closed enums only: no tenant,
//! endpoint or URL ever becomes one.

use metrics::{counter, gauge, histogram};
use webhook_core::outbox::{AttemptRecord, Change, Expanded, Pruned};

pub(crate) fn attempt(record: &AttemptRecord) {
    counter!("webhook_dispatch_attempts_total", "class" => record.class.as_str()).increment(1);
    histogram!("webhook_dispatch_attempt_seconds").record(record.took.as_secs_f64());
}

/// The lease was over before the outcome was recorded: another process may have sent it again.
pub(crate) fn lost() {
    counter!("webhook_dispatch_lost_leases_total").increment(1);
}

/// Leases of processes that died or stalled.
pub(crate) fn rescued(deliveries: u64) {
    counter!("webhook_dispatch_rescued_total").increment(deliveries);
}

pub(crate) fn expanded(expanded: &Expanded) {
    counter!("webhook_dispatch_events_total").increment(expanded.events);
    counter!("webhook_dispatch_deliveries_total").increment(expanded.deliveries);
}

pub(crate) fn pruned(pruned: Pruned) {
    counter!("webhook_dispatch_given_up_total").increment(pruned.given_up);
    counter!("webhook_dispatch_pruned_events_total").increment(pruned.events);
}

pub(crate) fn changed(change: Change) {
    counter!("webhook_dispatch_endpoint_changes_total", "change" => change.as_str()).increment(1);
}

pub(crate) fn under_way(attempts: u32) {
    gauge!("webhook_dispatch_under_way").set(attempts);
}
