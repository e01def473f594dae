//! G1 to G3: claims into tables that have grown, and beside retention.

use std::cell::LazyCell;
use std::time::{Duration, Instant};

use webhook_actix::ledger::{IdentityRetention, Ledger as _, Retention};
use webhook_benches::{Effort, Measure, Report};
use webhook_sqlx::PostgresLedger;

use crate::claims::{SMALL, claim, measure};
use crate::contest::{Bouts, Contender, contest};
use crate::database::{Database, Databases, Disk};
use crate::events::{ENDPOINT, Events};
use crate::timings::{Timings, crowd};

pub(crate) fn rows(report: &Report, effort: Effort, databases: &Databases) {
    let [fewer, more] = effort.grown;
    report.row("G1a", || grown(effort, databases, fewer));
    report.row("G1b", || grown(effort, databases, more));
    let retention = LazyCell::new(|| beside_retention(effort, databases));
    report.row("G2", || {
        measure(&retention, |[alone, beside, _]| {
            beside.rate() / alone.rate()
        })
    });
    report.row("G3", || {
        measure(&retention, |[alone, _, prune]| prune.rate() / alone.rate())
    });
}

/// Claims into tables with so many events, beside the same into empty ones.
fn grown(effort: Effort, databases: &Databases, events: u32) -> Measure {
    let bouts = || -> Result<Bouts<2>, String> {
        let empty = databases.create(Disk::Usual)?;
        let full = databases.create(Disk::Usual)?;
        fill(&full, events);
        let into_empty = claims(databases, &empty, Database::empty, false);
        let into_full = claims(databases, &full, Database::checkpoint, false);
        Ok(contest(effort, [into_full, into_empty]))
    };
    measure(&bouts(), |[full, empty]| full.rate() / empty.rate())
}

/// Claims alone, claims while old events are forgotten, and forgetting alone.
fn beside_retention(effort: Effort, databases: &Databases) -> Result<Bouts<3>, String> {
    let database = databases.create(Disk::Usual)?;
    fill(&database, effort.grown[0]);
    let alone = claims(databases, &database, Database::checkpoint, false);
    let beside = claims(databases, &database, Database::checkpoint, true);
    let runtime = databases.runtime();
    let ledger = runtime.block_on(database.open());
    let prune = Contender::new(|count| {
        database.checkpoint();
        runtime.block_on(prune_flat_out(&ledger, count))
    });
    Ok(contest(effort, [alone, beside, prune]))
}

/// Claims of events that were never seen, with or without retention at work.
fn claims<'d>(
    databases: &Databases,
    database: &'d Database,
    before: impl Fn(&Database) + 'd,
    is_pruning: bool,
) -> Contender<'d> {
    let runtime = databases.runtime().clone();
    let ledger = runtime.block_on(database.open());
    let events = Events::of(SMALL);
    Contender::new(move |count| {
        let events = events.fresh(count);
        before(database);
        let pruning = is_pruning.then(|| runtime.spawn(keep_pruning(ledger.clone())));
        let ledger = ledger.clone();
        let timings = runtime.block_on(crowd(events, 64, move |event| {
            let ledger = ledger.clone();
            async move { claim(&ledger, event).await }
        }));
        if let Some(pruning) = pruning {
            assert!(!pruning.is_finished(), "there was enough to forget");
            pruning.abort();
        }
        timings
    })
}

/// As the engine does: batches with pauses.
async fn keep_pruning(ledger: PostgresLedger) {
    while prune(&ledger).await > 0 {
        tokio::time::sleep(Duration::from_millis(75)).await;
    }
}

async fn prune_flat_out(ledger: &PostgresLedger, count: usize) -> Timings {
    let began = Instant::now();
    let mut forgotten = 0usize;
    while forgotten < count {
        let batch = prune(ledger).await;
        assert!(batch > 0, "there was enough to forget");
        forgotten = forgotten.saturating_add(batch);
    }
    Timings::of_many(forgotten, began.elapsed())
}

/// One batch, of the engine's size.
async fn prune(ledger: &PostgresLedger) -> usize {
    let identities = IdentityRetention::For(DAY.saturating_mul(31));
    let retention = Retention::new(ENDPOINT, identities);
    let pruned = ledger.prune(retention).await.expect("a batch");
    usize::try_from(pruned.forgotten).unwrap_or(usize::MAX)
}

/// Fill the tables with completed events of two months ago, whose payloads are gone. The large index of
/// random keys is built afterwards, about as full as one that has grown.
fn fill(database: &Database, events: u32) {
    let keys = format!(
        "alter table webhook.claim drop constraint claim_pkey;
         insert into webhook.claim (key, inbox, kind, key_fingerprint)
         select {KEY}, {ID}, 1, {FINGERPRINT} from generate_series(1, {events}) as number;
         set maintenance_work_mem = '1GB';
         create unique index claim_pkey on webhook.claim (key) with (fillfactor = 70);
         alter table webhook.claim add constraint claim_pkey primary key using index claim_pkey"
    );
    let rows = format!(
        "insert into webhook.inbox (
             id, endpoint, event_id, event_type, state, token, due_at, received_at,
             last_seen_at, settled_at, id_key, digest, key_fingerprint, key_id, signed_at)
         select {ID}, '{ENDPOINT}', 'evt_old_' || number, 'payment_intent.succeeded', 'completed',
             number, moment, moment, moment, moment, {KEY}, {KEY}, {FINGERPRINT}, 'k1', 1700000000
         from generate_series(1, {events}) as number,
             lateral (select clock_timestamp() - interval '60 days' as moment) as long_ago"
    );
    std::thread::scope(|scope| {
        let filling = scope.spawn(|| database.execute(&keys));
        database.execute(&rows);
        filling.join().expect("keys");
    });
    // Autovacuum would do it while we measure.
    database.execute("vacuum (analyze) webhook.claim");
    database.execute("vacuum (analyze) webhook.inbox");
}

const ID: &str = "('018f0000-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid";
const KEY: &str = "sha256(('old ' || number)::bytea)";
const FINGERPRINT: &str = "sha256('key')";

const DAY: Duration = Duration::from_hours(24);
