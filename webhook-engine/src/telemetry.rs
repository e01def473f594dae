//! Counters and histograms, through the `metrics` facade. Labels come from configuration and closed
//! enums only: no id, account or unlisted type ever becomes a label.

use std::time::Duration;

use webhook_core::ledger::Pruned;
use webhook_core::{MatchedKey, Outcome, Rejection};

/// One delivery was answered.
pub(crate) fn delivery(endpoint: &str, provider: &'static str, outcome: Outcome, took: Duration) {
    let labels = [
        ("endpoint", endpoint.to_owned()),
        ("provider", provider.to_owned()),
        ("outcome", outcome.as_str().to_owned()),
    ];
    metrics::counter!("webhook_deliveries_total", &labels).increment(1);
    metrics::histogram!("webhook_delivery_seconds", "endpoint" => endpoint.to_owned()).record(took);
}

/// A delivery was verified under this key, `skew_secs` before (or, negative, after) our clock.
///
/// A key without an id goes by the beginning of its fingerprint, which is public.
pub(crate) fn verified(endpoint: &str, key: &MatchedKey, skew_secs: Option<i64>, bytes: usize) {
    let endpoint = endpoint.to_owned();
    let fingerprint = || key.fingerprint().to_string().chars().take(8).collect();
    let key = key.id().map_or_else(fingerprint, |id| (**id).to_owned());
    metrics::counter!("webhook_verified_total", "endpoint" => endpoint.clone(), "key" => key)
        .increment(1);
    #[expect(
        clippy::cast_precision_loss,
        reason = "bodies and skews are far below 2^52"
    )]
    {
        metrics::histogram!("webhook_body_bytes", "endpoint" => endpoint.clone())
            .record(bytes as f64);
        if let Some(skew) = skew_secs {
            metrics::histogram!("webhook_skew_seconds", "endpoint" => endpoint).record(skew as f64);
        }
    }
}

/// An authentic event is not for this endpoint: `why` is the provider's word for it.
pub(crate) fn outside(endpoint: &str, why: &'static str) {
    metrics::counter!("webhook_outside_total", "endpoint" => endpoint.to_owned(), "why" => why)
        .increment(1);
}

/// An authentic delivery was refused for its time: the skew that an operator wants to see. What
/// strangers claim is not recorded.
pub(crate) fn outside_window(endpoint: &str, rejection: &Rejection) {
    #[expect(clippy::cast_precision_loss, reason = "timestamps are far below 2^52")]
    let skew = match *rejection {
        Rejection::Stale {
            by_secs,
            authentic: true,
        } => by_secs as f64,
        Rejection::Future {
            by_secs,
            authentic: true,
        } => -(by_secs as f64),
        _ => return,
    };
    metrics::histogram!("webhook_skew_seconds", "endpoint" => endpoint.to_owned()).record(skew);
}

/// One attempt of a handler ended.
pub(crate) fn attempt(endpoint: &str, handler: &'static str, result: &'static str, took: Duration) {
    let endpoint = endpoint.to_owned();
    metrics::counter!(
        "webhook_attempts_total",
        "endpoint" => endpoint.clone(), "handler" => handler, "result" => result
    )
    .increment(1);
    metrics::histogram!("webhook_attempt_seconds", "endpoint" => endpoint, "handler" => handler)
        .record(took);
}

/// Events became dead letters.
pub(crate) fn dead(endpoint: &str, count: u64) {
    metrics::counter!("webhook_dead_letters_total", "endpoint" => endpoint.to_owned())
        .increment(count);
}

/// A delivery went to quarantine.
pub(crate) fn quarantined(endpoint: &str, reason: &'static str) {
    metrics::counter!(
        "webhook_quarantined_total",
        "endpoint" => endpoint.to_owned(), "reason" => reason
    )
    .increment(1);
}

/// Something was forgotten.
pub(crate) fn pruned(endpoint: &str, pruned: Pruned) {
    for (what, rows) in [
        ("payloads", pruned.payloads),
        ("events", pruned.buried),
        ("identities", pruned.forgotten),
    ] {
        let labels = [("endpoint", endpoint.to_owned()), ("what", what.to_owned())];
        metrics::counter!("webhook_pruned_total", &labels).increment(rows);
    }
}

/// A statement of the ledger failed outside a request.
pub(crate) fn ledger_fault(endpoint: &str, operation: &'static str) {
    metrics::counter!(
        "webhook_ledger_faults_total",
        "endpoint" => endpoint.to_owned(), "operation" => operation
    )
    .increment(1);
}

/// Name and explain every metric, once an exporter is installed.
pub fn describe_metrics() {
    use metrics::{Unit, describe_counter, describe_histogram};
    describe_counter!(
        "webhook_deliveries_total",
        "Requests by endpoint and outcome."
    );
    describe_counter!(
        "webhook_verified_total",
        "Authentic deliveries by the key that verified them."
    );
    describe_counter!("webhook_attempts_total", "Attempts of handlers by result.");
    describe_counter!("webhook_dead_letters_total", "Events set aside.");
    describe_counter!(
        "webhook_quarantined_total",
        "Deliveries kept in quarantine, by reason."
    );
    describe_counter!(
        "webhook_ledger_faults_total",
        "Ledger operations that failed in the background."
    );
    describe_counter!("webhook_pruned_total", "Rows forgotten by retention.");
    describe_histogram!(
        "webhook_delivery_seconds",
        Unit::Seconds,
        "Time to the answer."
    );
    describe_histogram!(
        "webhook_attempt_seconds",
        Unit::Seconds,
        "Time of one attempt."
    );
    describe_histogram!(
        "webhook_body_bytes",
        Unit::Bytes,
        "Size of authentic bodies."
    );
    describe_histogram!(
        "webhook_skew_seconds",
        Unit::Seconds,
        "Our clock minus the signed timestamp."
    );
}
