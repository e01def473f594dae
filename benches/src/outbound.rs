//! O1 to O7: sending, from the client alone to a thousand endpoints of which half hang.

use std::time::{Duration, Instant};

use bytes::Bytes;
use webhook_actix::outbox::{Event, Outbox as _};
use webhook_benches::{Effort, Measure, Ratio, Report};
use webhook_sqlx::PostgresOutbox;

use crate::database::{Database, Databases, Disk};

mod client;
mod sender;
mod sink;

use sender::{Fleet, Sender};
use sink::Sink;

pub(crate) fn rows(report: &Report, effort: Effort, databases: &Databases) {
    report.row("O1", || client::rate(effort));
    report.row("O2", || client::cpu(effort));
    let drained = std::cell::LazyCell::new(|| drain(effort, databases));
    report.row("O3a", || {
        of(&drained, |drained| drained.per_second / 2000.0)
    });
    report.row("O3b", || {
        of(&drained, |drained| drained.per_second / drained.reqwest)
    });
    report.row("O3c", || of(&drained, |drained| drained.commits));
    report.row("O3d", || of(&drained, |drained| drained.log_kilobytes));
    report.row("O4", || beside(effort, databases, Trouble::OneInAHundred));
    report.row("O5", || beside(effort, databases, Trouble::Half));
    let heap = std::cell::LazyCell::new(|| behind_a_heap(effort, databases));
    report.row("O6", || of(&heap, |heap| heap.rate));
    report.row("O7", || of(&heap, |heap| heap.memory));
}

/// What emptying an outbox took.
#[derive(Debug, Clone, Copy)]
struct Drained {
    per_second: f64,
    reqwest: f64,
    commits: f64,
    log_kilobytes: f64,
}

/// What a heap of deliveries for a dead endpoint makes of the others.
#[derive(Debug, Clone, Copy)]
struct Heaped {
    rate: f64,
    memory: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Half,
    OneInAHundred,
}

fn of<T>(rounds: &Result<Vec<T>, String>, value: impl Fn(&T) -> f64) -> Measure {
    match rounds {
        Ok(rounds) => Measure::Is(Ratio::of_rounds(rounds.iter().map(value))),
        Err(why) => Measure::Not(why.clone()),
    }
}

/// 2 KB to 64 endpoints, from the row in the outbox to the receiver's answer on record.
fn drain(effort: Effort, databases: &Databases) -> Result<Vec<Drained>, String> {
    let database = databases.create(Disk::Usual)?;
    let count = effort.bout_size.unwrap_or(10_000);
    let sink = Sink::start();
    let mut rounds = Vec::new();
    for _ in 0..effort.bouts {
        let sender = Sender::start(databases, &database, 512, DEADLINE);
        let fleet = sender.fleet(64, |_| sink.url());
        warm(&sender, &fleet, &sink);
        sender.stop();
        database.execute(&filled(count, fleet.size()));
        let (before, arrived) = (database.activity(), sink.count());
        let began = Instant::now();
        sender.begin();
        sink.wait(arrived.saturating_add(count));
        sender.settle();
        let took = began.elapsed();
        let after = database.activity();
        let each = |a: f64, b: f64| (b - a) / float(count);
        rounds.push(Drained {
            per_second: float(count) / took.as_secs_f64(),
            reqwest: client::reqwest_rate(&sink, count),
            commits: each(before.commits, after.commits),
            log_kilobytes: each(before.log_bytes, after.log_bytes) / 1024.0,
        });
        sender.stop();
        database.execute(EMPTY);
    }
    Ok(rounds)
}

/// The 99th percentile from commit to arrival at healthy endpoints, with trouble and without.
fn beside(effort: Effort, databases: &Databases, trouble: Trouble) -> Measure {
    let database = match databases.create(Disk::Usual) {
        Ok(database) => database,
        Err(why) => return Measure::Not(why),
    };
    let is_quick = effort.bout_size.is_some();
    let (endpoints, time) = if is_quick {
        (20, Duration::from_millis(300))
    } else {
        (1000, Duration::from_secs(10))
    };
    let one_in = match trouble {
        Trouble::Half => 2,
        Trouble::OneInAHundred => 100,
    };
    let mut rounds = Vec::new();
    for _ in 0..effort.bouts.min(3) {
        let [calm, troubled] = [None, Some(one_in)].map(|one_in| {
            let (sink, hostile) = (Sink::start(), sink::Hostile::start());
            let sender = Sender::start(databases, &database, 1024, DEADLINE);
            let is_hostile =
                |number: usize| one_in.is_some_and(|one_in| number.is_multiple_of(one_in));
            let fleet = sender.fleet(endpoints, |number| {
                if is_hostile(number) {
                    hostile.url(number)
                } else {
                    sink.url()
                }
            });
            // Until every endpoint is known for what it is.
            sender.trickle(&fleet, if is_quick { time } else { WARM }, RATE);
            sink.forget();
            sender.trickle(&fleet, time, RATE);
            std::thread::sleep(Duration::from_millis(500));
            let p99 = sink.p99(&sender.committed());
            sender.stop();
            database.execute(EMPTY);
            p99
        });
        rounds.push(troubled / calm);
    }
    Measure::Is(Ratio::of_rounds(rounds))
}

/// The rate of 63 endpoints while a million deliveries wait for another, on tables that were never
/// analysed; and this process's memory at the end of that, to what the same work took without them:
/// an allocator gives back little of what a burst took, so that memory before a burst tells nothing.
fn behind_a_heap(effort: Effort, databases: &Databases) -> Result<Vec<Heaped>, String> {
    let database = databases.create(Disk::Usual)?;
    let (count, heap) = match effort.bout_size {
        Some(size) => (size, 1000),
        None => (10_000, 1_000_000),
    };
    let sink = Sink::start();
    let dead = sink::Hostile::start();
    let mut rounds = Vec::new();
    for _ in 0..effort.bouts.min(3) {
        let [(bare, before), (heaped, after)] = [0, heap].map(|heap| {
            let sender = Sender::start(databases, &database, 512, DEADLINE);
            let fleet = sender.fleet(63, |_| sink.url());
            warm(&sender, &fleet, &sink);
            sender.stop();
            if heap > 0 {
                let endpoint = sender.endpoint("dead", dead.refused());
                database.execute(&heaped_up(heap, &endpoint));
            }
            database.execute(&filled(count, fleet.size()));
            let began = Instant::now();
            let arrived = sink.count();
            sender.begin();
            sink.wait(arrived.saturating_add(count));
            let took = began.elapsed();
            let memory = memory_bytes();
            sender.stop();
            database.execute(EMPTY);
            (float(count) / took.as_secs_f64(), memory)
        });
        rounds.push(Heaped {
            rate: heaped / bare,
            memory: after / before,
        });
    }
    Ok(rounds)
}

/// Let each endpoint answer once: it has one place until then.
fn warm(sender: &Sender, fleet: &Fleet, sink: &Sink) {
    let before = sink.count();
    sender.begin();
    sender.send(fleet, fleet.size());
    sink.wait(before.saturating_add(fleet.size()));
    sender.settle();
}

/// Events of every tenant in turn, as `enqueue` stores them.
fn filled(count: usize, tenants: usize) -> String {
    format!(
        "insert into webhook.outbox_event (id, tenant, event_type, digest, payload)
         select 'evt_' || gen_random_uuid(), 't' || n % {tenants}, 'a', '\\x00', convert_to(repeat('a', {BYTES}), 'UTF8')
         from generate_series(1, {count}) as n"
    )
}

/// Deliveries of one event each that wait for one endpoint.
fn heaped_up(count: usize, endpoint: &str) -> String {
    format!(
        "insert into webhook.outbox_event (id, tenant, event_type, digest, payload, expanded_at)
         select 'evt_heap_' || n, 'dead', 'a', '\\x00', '', now() from generate_series(1, {count}) as n;
         insert into webhook.outbox_delivery (event, endpoint, size)
         select seq, '{endpoint}', 0 from webhook.outbox_event where tenant = 'dead'"
    )
}

fn event(tenant: usize) -> Event {
    let payload = Bytes::from(vec![b'a'; BYTES]);
    Event::new(format!("t{tenant}"), "a", payload).expect("an event")
}

/// Resident memory of this process, by Linux; elsewhere it does not change.
fn memory_bytes() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u32>().ok());
    f64::from(resident.unwrap_or(1)) * 4096.0
}

#[expect(clippy::cast_precision_loss, reason = "below 2^52")]
fn float(count: usize) -> f64 {
    count as f64
}

impl Database {
    /// An outbox on it, ready for events.
    async fn outbox(&self) -> PostgresOutbox {
        let outbox = PostgresOutbox::connect(self.url())
            .await
            .expect("an outbox");
        outbox.prepare().await.expect("a schema");
        outbox
    }
}

const BYTES: usize = 2048;
const DEADLINE: Duration = Duration::from_secs(5);
/// Longer than it takes breakers to open: five failures of five seconds each.
const WARM: Duration = Duration::from_secs(30);
/// Events a second.
const RATE: u32 = 300;
const EMPTY: &str = "truncate webhook.outbox_event, webhook.outbox_endpoint, \
                     webhook.outbox_delivery, webhook.outbox_attempt";
