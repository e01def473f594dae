//! What became of it all, by SQL on both sides and by what came over the wire.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use webhook_tests::outbound::ATTEMPTS;

use super::sinks::Sinks;
use crate::database::Database;

/// What there was to judge.
#[derive(Debug, Default)]
pub(crate) struct Count {
    changes: usize,
    received: usize,
    deliveries: usize,
    requests: u64,
    rescued: usize,
    overlapped: usize,
}

/// Wait until nothing more happens, or for so long that it never will. What waits for the one that
/// refuses, and for the one that is gone, waits on.
pub(crate) fn wait_until_quiet(shop: &Database, customer: &Database) {
    let began = Instant::now();
    let is_busy =
        || !shop.texts(UNSETTLED).unwrap().is_empty() || !customer.texts(OPEN).unwrap().is_empty();
    while is_busy() && began.elapsed() < QUIET_WITHIN {
        thread::sleep(Duration::from_millis(200));
    }
    thread::sleep(Duration::from_millis(500));
}

/// All that is not as promised.
pub(crate) fn judge(shop: &Database, customer: &Database, sinks: &Sinks) -> (Vec<String>, Count) {
    let mut findings = in_store(shop);
    let mut count = Count::default();
    let open = customer.texts(OPEN).unwrap();
    findings.extend(
        open.iter()
            .map(|row| format!("{row} is open at the receiver")),
    );
    effects(shop, customer, &mut findings, &mut count);
    wire(shop, sinks, &mut findings, &mut count);
    let is_gone =
        shop.texts("select state_reason from webhook.outbox_endpoint where url like '%/gone'");
    if is_gone.unwrap() != ["gone"] {
        findings.push("the endpoint that is gone is not disabled".to_owned());
    }
    (findings, count)
}

/// What the sender's tables alone give away.
fn in_store(shop: &Database) -> Vec<String> {
    let mut findings = Vec::new();
    for (what, rows) in [
        ("is not settled", shop.texts(UNSETTLED)),
        ("is under way, and nobody sends", shop.texts(SENDING)),
        ("has attempts and log entries apart", shop.texts(MISCOUNTED)),
        ("is delivered against its log", shop.texts(CONTRADICTED)),
        ("was attempted too often", shop.texts(&too_often())),
        ("is dead, and its endpoint well", shop.texts(DEAD)),
    ] {
        findings.extend(rows.unwrap().iter().map(|row| format!("{row} {what}")));
    }
    findings
}

/// What was changed, and committed, had its effect at the receiver once; and nothing else had.
fn effects(shop: &Database, customer: &Database, findings: &mut Vec<String>, count: &mut Count) {
    let changes: HashSet<String> = shop.texts(CHANGES).unwrap().into_iter().collect();
    let told: HashMap<String, String> = pairs(shop, TOLD);
    let mut effects: HashMap<String, usize> = HashMap::new();
    for key in customer.texts("select event_id from effect").unwrap() {
        *effects.entry(key).or_default() += 1;
    }
    count.changes = changes.len();
    count.received = effects.values().sum();
    for key in &changes {
        match told.get(key) {
            None => findings.push(format!("{key} was changed and nobody was told")),
            Some(tenant) if tenant.starts_with('/') => match effects.get(key) {
                Some(1) => {}
                None => findings.push(format!("{key} is lost")),
                Some(times) => findings.push(format!("{key} had its effect {times} times")),
            },
            Some(_) => {}
        }
    }
    let never = told.keys().chain(effects.keys());
    let never = never.filter(|key| !changes.contains(*key));
    findings.extend(never.map(|key| format!("{key} was rolled back and told all the same")));
}

/// Nobody sends without a lease, and nobody sends beside another that still has one.
fn wire(shop: &Database, sinks: &Sinks, findings: &mut Vec<String>, count: &mut Count) {
    let seen = sinks.seen();
    let attempts = pairs(shop, ATTEMPTED);
    count.deliveries = attempts.len();
    count.requests = seen.requests.values().sum();
    count.overlapped = seen.overlapped.len();
    let rescued: HashSet<String> = shop.texts(RESCUED).unwrap().into_iter().collect();
    count.rescued = rescued.len();
    for ((path, event), requests) in &seen.requests {
        let delivery = format!("{}#{event}", sinks.url(path));
        let leases = attempts.get(&delivery).and_then(|count| count.parse().ok());
        if leases.unwrap_or(0) < *requests {
            findings.push(format!(
                "{delivery} came {requests} times in {leases:?} attempts"
            ));
        }
    }
    for (path, event) in &seen.overlapped {
        let delivery = format!("{}#{event}", sinks.url(path));
        if !rescued.contains(&delivery) {
            findings.push(format!(
                "{delivery} was under way twice, and no lease ran out"
            ));
        }
    }
    findings.extend(seen.findings);
}

/// Rows of two words.
fn pairs(database: &Database, sql: &str) -> HashMap<String, String> {
    let rows = database.texts(sql).unwrap();
    let pair = |row: &String| {
        let (key, value) = row.split_once(' ').unwrap();
        (key.to_owned(), value.to_owned())
    };
    rows.iter().map(pair).collect()
}

fn too_often() -> String {
    format!(
        "select id || ' to ' || endpoint from webhook.outbox_delivery where attempts > {ATTEMPTS}"
    )
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            changes,
            received,
            deliveries,
            requests,
            rescued,
            overlapped,
        } = self;
        write!(
            f,
            "{changes} changes, {deliveries} deliveries, {received} effects; {requests} requests to endpoints \
             in trouble; {rescued} deliveries rescued, {overlapped} overlapped"
        )
    }
}

const CHANGES: &str = "select event_id from effect";

/// Senders give each event the key of its change. Notices about endpoints are no change.
const TOLD: &str = "
select id || ' ' || tenant from webhook.outbox_event where event_type = 'note.created'";

const OPEN: &str = "select event_id from webhook.inbox where state in ('pending', 'processing')";

const UNSETTLED: &str = "
select 'event ' || id from webhook.outbox_event where expanded_at is null
union all
select 'delivery ' || delivery.id || ' to ' || url || ' ' || delivery.state
from webhook.outbox_delivery as delivery
join webhook.outbox_endpoint as endpoint on endpoint.id = delivery.endpoint
where delivery.state in ('pending', 'sending') and url not like '%/refuses' and url not like '%/gone'";

const SENDING: &str = "
select 'delivery ' || id from webhook.outbox_delivery where state = 'sending'";

/// Each attempt is in the log once: as it ended, or as lost.
const MISCOUNTED: &str = "
select 'delivery ' || delivery.id || ' of ' || attempts || ' attempts'
from webhook.outbox_delivery as delivery
where state <> 'sending' and attempts <> (
        select count(*) from webhook.outbox_attempt where delivery = delivery.id)
   or attempts <> (
        select count(distinct attempt) from webhook.outbox_attempt where delivery = delivery.id)";

const CONTRADICTED: &str = "
select 'delivery ' || delivery.id || ' ' || state
from webhook.outbox_delivery as delivery
where (state = 'delivered') <> exists (
    select 1 from webhook.outbox_attempt as entry
    where entry.delivery = delivery.id and class = 'delivered' and entry.attempt = attempts)
   or exists (
    select 1 from webhook.outbox_attempt as entry
    where entry.delivery = delivery.id and class = 'delivered' and entry.attempt <> attempts)";

const DEAD: &str = "
select 'delivery ' || delivery.id || ' to ' || url
from webhook.outbox_delivery as delivery
join webhook.outbox_endpoint as endpoint on endpoint.id = delivery.endpoint
where delivery.state = 'dead'
  and (tenant in ('/0', '/1', '/2', 'ordered'))";

const ATTEMPTED: &str = "
select url || '#' || event.id || ' ' || attempts
from webhook.outbox_delivery as delivery
join webhook.outbox_event as event on event.seq = delivery.event
join webhook.outbox_endpoint as endpoint on endpoint.id = delivery.endpoint";

const RESCUED: &str = "
select url || '#' || event.id
from webhook.outbox_delivery as delivery
join webhook.outbox_event as event on event.seq = delivery.event
join webhook.outbox_endpoint as endpoint on endpoint.id = delivery.endpoint
where exists (
    select 1 from webhook.outbox_attempt as entry
    where entry.delivery = delivery.id and class = 'unknown')";

const QUIET_WITHIN: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use webhook_core::outbox::{
        AttemptClass, AttemptRecord, Delivery, Endpoint, Event, Filter, HealthPolicy, Next, Outbox,
        Put, Want,
    };
    use webhook_sqlx::SqliteOutbox;

    use super::*;

    /// Two attempts of one delivery, the first of which lost its lease; and what was on record of it if
    /// the store asked for no token.
    fn found(first_is_recorded: bool) -> Vec<String> {
        let name = format!("torture-oracle-{}-{first_is_recorded}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let shop = Database::create("sqlite", &folder, 1);
        let runtime = super::super::runtime();
        let outbox = runtime.block_on(SqliteOutbox::open(&shop.url())).unwrap();
        let first = runtime.block_on(lease(&outbox, true));
        let lapse = "update webhook_outbox_delivery set due_at = 0";
        shop.execute(lapse).unwrap();
        runtime.block_on(async {
            assert_eq!(outbox.rescue(ATTEMPTS, 10).await.unwrap(), 1);
            let second = lease(&outbox, false).await;
            let mut records = Vec::new();
            if first_is_recorded {
                // A fence that lets everybody through: the newest token for the oldest lease.
                let mut late = delivered(&first);
                late.share = second.share;
                records.push(late);
            } else {
                records.extend([delivered(&first), delivered(&second)]);
            }
            outbox
                .record(records, HealthPolicy::default())
                .await
                .unwrap();
            outbox.close().await;
        });
        let findings = in_store(&shop);
        std::fs::remove_dir_all(&folder).unwrap();
        findings
    }

    async fn lease(outbox: &SqliteOutbox, is_new: bool) -> Delivery {
        if is_new {
            outbox.prepare().await.unwrap();
            let to = "http://127.0.0.1:1/";
            let endpoint = Endpoint::new("/0", to, Filter::all(), "standard").unwrap();
            let id = endpoint.id;
            assert_eq!(outbox.put(endpoint).await.unwrap(), Put::Stored(1));
            let event = Event::new("/0", "note.created", "{}").unwrap();
            assert!(outbox.send_to(id, event).await.unwrap());
        }
        let ready = outbox.ready(None, 1).await.unwrap();
        let want = Want::new(ready[0].endpoint, 1, 1);
        let lease = Duration::from_mins(1);
        let mut taken = outbox.take(vec![want], lease, 1000).await.unwrap();
        taken.deliveries.remove(0)
    }

    fn delivered(delivery: &Delivery) -> AttemptRecord {
        AttemptRecord::new(delivery, AttemptClass::Delivered, Next::Delivered)
    }

    #[test]
    fn an_outcome_that_a_lost_lease_recorded_is_found() {
        assert_eq!(found(false), [""; 0]);
        let findings = found(true);
        let finds = |what| findings.iter().any(|finding| finding.ends_with(what));
        assert!(finds("has attempts and log entries apart"), "{findings:?}");
        assert!(finds("is delivered against its log"), "{findings:?}");
    }
}
