//! Counters and histograms, through the `metrics` facade. Labels come from configuration and closed
//! enums only: no id, account or unlisted type ever becomes a label.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use metrics::{Key, Label, Level, Metadata, with_recorder};
use webhook_core::ledger::Pruned;
use webhook_core::{KeyFingerprint, MatchedKey, Outcome, Rejection};

/// What is measured of one endpoint for every delivery and attempt, with labels made once.
///
/// Kept are metrics' keys and not a recorder's counters: a recorder may be installed after `build()`.
#[derive(Debug)]
pub(crate) struct Meters {
    endpoint: Arc<str>,
    provider: &'static str,
    /// Its keys are tenants', too many to be labels.
    by_tenant: bool,
    deliveries: Family<Outcome>,
    verified: Family<(KeyFingerprint, bool)>,
    attempts: Family<(&'static str, &'static str)>,
    attempt_secs: Family<&'static str>,
    delivery_secs: Key,
    body_bytes: Key,
    skew_secs: Key,
}

/// The members of one metric, made when they are first used.
#[derive(Debug)]
struct Family<T>(RwLock<Vec<(T, Key)>>);

/// More members than an endpoint has outcomes, handlers times results, or keys between two restarts. Beyond
/// it they are made anew.
const MOST_MEMBERS: usize = 256;

static METADATA: Metadata<'_> = Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

impl Meters {
    pub(crate) fn new(endpoint: Arc<str>, provider: &'static str, by_tenant: bool) -> Self {
        let of_endpoint =
            |name: &'static str| Key::from_parts(name, vec![label("endpoint", &endpoint)]);
        Self {
            delivery_secs: of_endpoint("webhook_delivery_seconds"),
            body_bytes: of_endpoint("webhook_body_bytes"),
            skew_secs: of_endpoint("webhook_skew_seconds"),
            deliveries: Family::new(),
            verified: Family::new(),
            attempts: Family::new(),
            attempt_secs: Family::new(),
            endpoint,
            provider,
            by_tenant,
        }
    }

    /// One delivery was answered.
    pub(crate) fn delivery(&self, outcome: Outcome, took: Duration) {
        let make = || {
            let labels = vec![
                label("endpoint", &self.endpoint),
                Label::from_static_parts("provider", self.provider),
                Label::from_static_parts("outcome", outcome.as_str()),
            ];
            Key::from_parts("webhook_deliveries_total", labels)
        };
        self.deliveries.with(outcome, make, count);
        record(&self.delivery_secs, took.as_secs_f64());
    }

    /// A delivery was verified under this key, `skew_secs` before (or, negative, after) our clock.
    ///
    /// A key without an id goes by the beginning of its fingerprint, which is public. Keys of tenants
    /// all go by one name.
    pub(crate) fn verified(&self, key: &MatchedKey, skew_secs: Option<i64>, bytes: usize) {
        let role = if key.is_retiring() {
            "retiring"
        } else {
            "active"
        };
        let make = || {
            let key = match key.id() {
                _ if self.by_tenant => Label::from_static_parts("key", "tenant"),
                Some(id) => label("key", id),
                None => {
                    let digits = key.fingerprint().to_string();
                    Label::new("key", digits.chars().take(8).collect::<String>())
                }
            };
            let labels = vec![
                label("endpoint", &self.endpoint),
                key,
                Label::from_static_parts("role", role),
            ];
            Key::from_parts("webhook_verified_total", labels)
        };
        let fingerprint = if self.by_tenant {
            KeyFingerprint::from_bytes([0; 16])
        } else {
            key.fingerprint()
        };
        let member = (fingerprint, key.is_retiring());
        self.verified.with(member, make, count);
        #[expect(
            clippy::cast_precision_loss,
            reason = "bodies and skews are far below 2^52"
        )]
        {
            record(&self.body_bytes, bytes as f64);
            if let Some(skew) = skew_secs {
                record(&self.skew_secs, skew as f64);
            }
        }
    }

    /// An authentic delivery was refused for its time: the skew that an operator wants to see. What
    /// strangers claim is not recorded.
    pub(crate) fn outside_window(&self, rejection: &Rejection) {
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
        record(&self.skew_secs, skew);
    }

    /// One attempt of a handler ended.
    pub(crate) fn attempt(&self, handler: &'static str, result: &'static str, took: Duration) {
        let labels = || {
            vec![
                label("endpoint", &self.endpoint),
                Label::from_static_parts("handler", handler),
            ]
        };
        let make = || {
            let mut labels = labels();
            labels.push(Label::from_static_parts("result", result));
            Key::from_parts("webhook_attempts_total", labels)
        };
        self.attempts.with((handler, result), make, count);
        let make = || Key::from_parts("webhook_attempt_seconds", labels());
        self.attempt_secs
            .with(handler, make, |key| record(key, took.as_secs_f64()));
    }
}

impl<T: Copy + PartialEq> Family<T> {
    fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// Do something with `member`'s key. Members are few: looking at each is quicker than a hash.
    fn with(&self, member: T, name: impl FnOnce() -> Key, act: impl FnOnce(&Key)) {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, key)) = known.iter().find(|(own, _)| *own == member) {
                return act(key);
            }
        }
        let key = name();
        act(&key);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_MEMBERS {
            known.clear();
        }
        // Twice, if two came at once: the first one is found.
        known.push((member, key));
    }
}

fn label(name: &'static str, value: &Arc<str>) -> Label {
    Label::new(name, value.clone())
}

fn count(key: &Key) {
    with_recorder(|recorder| recorder.register_counter(key, &METADATA)).increment(1);
}

fn record(key: &Key, value: f64) {
    with_recorder(|recorder| recorder.register_histogram(key, &METADATA)).record(value);
}

/// An authentic event is not for this endpoint: `why` is the provider's word for it.
pub(crate) fn outside(endpoint: &str, why: &'static str) {
    metrics::counter!("webhook_outside_total", "endpoint" => endpoint.to_owned(), "why" => why)
        .increment(1);
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
        ("decisions", pruned.decisions),
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

/// A tenant's keys were looked up, or could not be.
pub(crate) fn key_lookup(endpoint: &str, result: &'static str) {
    metrics::counter!(
        "webhook_key_lookups_total",
        "endpoint" => endpoint.to_owned(), "result" => result
    )
    .increment(1);
}

/// Changed keys were adopted or refused.
pub(crate) fn key_reload(endpoint: &str, result: &'static str) {
    metrics::counter!(
        "webhook_key_reloads_total",
        "endpoint" => endpoint.to_owned(), "result" => result
    )
    .increment(1);
}

/// So many keys are past their end.
pub(crate) fn keys_past_end(endpoint: &str, keys: usize) {
    #[expect(clippy::cast_precision_loss, reason = "a keyring's keys are few")]
    metrics::gauge!("webhook_keys_past_end", "endpoint" => endpoint.to_owned()).set(keys as f64);
}

/// Name and explain every metric, once an exporter is installed.
pub fn describe_metrics() {
    use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
    describe_counter!(
        "webhook_deliveries_total",
        "Requests by endpoint and outcome."
    );
    describe_counter!(
        "webhook_verified_total",
        "Authentic deliveries by the key that verified them and its role."
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
    describe_counter!(
        "webhook_key_lookups_total",
        "Look-ups of tenants' keys by result; answers from memory are not counted."
    );
    describe_counter!(
        "webhook_key_reloads_total",
        "Changes of mounted keys, adopted or refused; refused ones count again while they stand."
    );
    describe_gauge!(
        "webhook_keys_past_end",
        "Keys that are configured and past their `retire_at`."
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
