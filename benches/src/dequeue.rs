//! D1 and D2: taking due events and completing them, beside an inbox by hand.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use webhook_actix::NewEvent;
use webhook_actix::ledger::{Completion, Ledger as _, Take};
use webhook_benches::{Effort, Report};
use webhook_sqlx::PostgresLedger;

use crate::claims::{SMALL, measure};
use crate::contest::{Bouts, Contender, contest};
use crate::database::{Database, Databases, Disk};
use crate::events::{ENDPOINT, Events, TYPE};
use crate::timings::Timings;

pub(crate) fn rows(report: &Report, effort: Effort, databases: &Databases) {
    let beside = |drain: Drain| -> Result<Bouts<2>, String> {
        let database = databases.on(Disk::Usual)?;
        let contenders = [ours(databases, database), peer(databases, database, drain)];
        Ok(contest(effort, contenders))
    };
    let rate = |bouts: &Result<Bouts<2>, String>| {
        measure(bouts, |[ours, theirs]| ours.rate() / theirs.rate())
    };
    report.row("D1", || rate(&beside(Drain::OneByOne)));
    report.row("D2", || rate(&beside(Drain::ByDeleting)));
}

/// How the peer does it.
#[derive(Debug, Clone, Copy)]
enum Drain {
    OneByOne,
    ByDeleting,
}

fn ours<'d>(databases: &Databases, database: &'d Database) -> Contender<'d> {
    let runtime = databases.runtime().clone();
    let ledger = runtime.block_on(database.open());
    let mut events = Events::of(SMALL);
    Contender::new(move |count| {
        let events = events.first(count);
        database.empty();
        runtime.block_on(async {
            fill(&ledger, &events).await;
            drain(&ledger).await
        })
    })
}

fn peer<'d>(databases: &Databases, database: &'d Database, how: Drain) -> Contender<'d> {
    let runtime = databases.runtime().clone();
    let peer = database.by_hand(8);
    Contender::new(move |count| {
        database.empty();
        runtime.block_on(async {
            peer.fill(count).await;
            match how {
                Drain::OneByOne => peer.drain_one_by_one(WORKERS).await,
                Drain::ByDeleting => peer.drain_by_deleting(WORKERS).await,
            }
        })
    })
}

async fn fill(ledger: &PostgresLedger, events: &[NewEvent]) {
    for events in events.chunks(200) {
        ledger.claim(events.to_vec()).await.expect("claims");
    }
}

/// Workers take 50 at a time and complete each by a call of its own, as handlers that end at the
/// same time do.
async fn drain(ledger: &PostgresLedger) -> Timings {
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let ledger = ledger.clone();
        workers.spawn(async move {
            let mut count = 0usize;
            loop {
                let taken = ledger.take(want()).await.expect("events").events;
                if taken.is_empty() {
                    return count;
                }
                count = count.saturating_add(taken.len());
                let mut completions = JoinSet::new();
                for leased in taken {
                    let ledger = ledger.clone();
                    completions.spawn(async move {
                        let done = ledger.complete(leased.lease, Completion::default()).await;
                        assert!(done.expect("a completion"), "the lease is ours");
                    });
                }
                completions.join_all().await;
            }
        });
    }
    let count = workers.join_all().await.into_iter().sum();
    Timings::of_many(count, began.elapsed())
}

fn want() -> Take {
    Take::new(ENDPOINT, vec![TYPE.to_owned()], Duration::from_secs(30)).at_most(50)
}

const WORKERS: usize = 4;
