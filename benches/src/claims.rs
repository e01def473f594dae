//! L1 to L8: claims on PostgreSQL beside an inbox by hand, on the machine's disk and on a slow one.

use std::cell::{LazyCell, OnceCell};

use webhook_actix::ledger::Ledger as _;
use webhook_actix::{Claim, NewEvent};
use webhook_benches::{Effort, Measure, Report};
use webhook_sqlx::PostgresLedger;

use crate::contest::{Bouts, Contender, contest};
use crate::database::{Database, Databases, Disk};
use crate::events::Events;
use crate::timings::{Timings, alone, crowd};

/// Payloads in bytes, where they are not what is measured.
pub(crate) const SMALL: usize = 300;
const LARGE: usize = 2048;

pub(crate) fn rows(report: &Report, effort: Effort, databases: &Databases) {
    let usual = Beside::new(effort, databases, Disk::Usual);
    let slow = Beside::new(effort, databases, Disk::Slow);
    let many = [&usual, &slow].map(|beside| LazyCell::new(|| beside.each(64, SMALL)));
    let [many, many_slow] = &many;
    let rate =
        |bouts: &Result<Bouts<2>, String>| measure(bouts, |[ours, each]| ours.rate() / each.rate());
    let p99 =
        |bouts: &Result<Bouts<2>, String>| measure(bouts, |[ours, each]| ours.p99() / each.p99());
    report.row("L1a", || rate(many));
    report.row("L1b", || rate(many_slow));
    report.row("L2a", || p99(many));
    report.row("L2b", || p99(many_slow));
    report.row("L3a", || rate(&usual.each(8, SMALL)));
    report.row("L3b", || rate(&slow.each(8, SMALL)));
    report.row("L4", || rate(&usual.each(1, SMALL)));
    report.row("L5a", || rate(&usual.each(256, SMALL)));
    report.row("L5b", || rate(&slow.each(256, SMALL)));
    report.row("L6a", || rate(&usual.copied(64)));
    report.row("L6b", || rate(&usual.copied(256)));
    report.row("L7a", || rate(&usual.each(64, LARGE)));
    report.row("L7b", || rate(&slow.each(64, LARGE)));
    let lone = LazyCell::new(|| usual.lone());
    report.row("L8a", || {
        measure(&lone, |[ours, each]| ours.median() / each.median())
    });
    report.row("L8b", || p99(&lone));
}

/// Claim one event, which must be new.
pub(crate) async fn claim(ledger: &PostgresLedger, event: NewEvent) {
    let claims = ledger.claim(vec![event]).await.expect("a claim");
    assert_eq!(claims, [Claim::Stored]);
}

pub(crate) fn measure<const N: usize>(
    bouts: &Result<Bouts<N>, String>,
    of: impl Fn(&[Timings; N]) -> f64,
) -> Measure {
    match bouts {
        Ok(bouts) => bouts.ratio(of),
        Err(why) => Measure::Not(why.clone()),
    }
}

/// Claims events by the public API, 64 at once for example. The database is emptied before.
pub(crate) fn ours<'d>(
    databases: &Databases,
    database: &'d Database,
    callers: usize,
    mut events: Events,
) -> Contender<'d> {
    let runtime = databases.runtime().clone();
    let ledger = runtime.block_on(database.open());
    Contender::new(move |count| {
        let (events, ledger) = (events.first(count), ledger.clone());
        database.empty();
        runtime.block_on(crowd(events, callers, move |event| {
            let ledger = ledger.clone();
            async move { claim(&ledger, event).await }
        }))
    })
}

/// The ledger beside its peers on one disk.
struct Beside<'d> {
    effort: Effort,
    databases: &'d Databases,
    disk: Disk,
    pool: OnceCell<u32>,
}

impl<'d> Beside<'d> {
    fn new(effort: Effort, databases: &'d Databases, disk: Disk) -> Self {
        Self {
            effort,
            databases,
            disk,
            pool: OnceCell::new(),
        }
    }

    /// Beside a statement an event, over the better of two pools.
    fn each(&self, callers: usize, bytes: usize) -> Result<Bouts<2>, String> {
        let database = self.databases.on(self.disk)?;
        let pool = self.pool.get_or_init(|| self.better_pool(database));
        let events = Events::of(bytes);
        let ours = ours(self.databases, database, callers, events);
        let each = self.peer(database, *pool, callers, bytes);
        Ok(contest(self.effort, [ours, each]))
    }

    /// Beside one `COPY` of everything.
    fn copied(&self, callers: usize) -> Result<Bouts<2>, String> {
        let database = self.databases.on(self.disk)?;
        let runtime = self.databases.runtime();
        let peer = database.by_hand(1);
        let mut events = Events::of(SMALL);
        let copy = Contender::new(move |count| {
            let events = events.first(count);
            database.empty();
            Timings::of_many(count, runtime.block_on(peer.copy(&events)))
        });
        let events = Events::of(SMALL);
        let ours = ours(self.databases, database, callers, events);
        Ok(contest(self.effort, [ours, copy]))
    }

    /// One call at a time, with pauses in which everything falls asleep.
    fn lone(&self) -> Result<Bouts<2>, String> {
        let database = self.databases.on(self.disk)?;
        let runtime = self.databases.runtime();
        let ledger = runtime.block_on(database.open());
        let peer = database.by_hand(1);
        let (mut events, mut others) = (Events::of(SMALL), Events::of(SMALL));
        let ours = Contender::new(move |count| {
            let events = events.first(count);
            database.empty();
            runtime.block_on(alone(events, async |event| claim(&ledger, event).await))
        });
        let each = Contender::new(move |count| {
            let events = others.first(count);
            database.empty();
            runtime.block_on(alone(events, async |event| peer.claim(event).await))
        });
        Ok(contest(self.effort, [ours, each]))
    }

    fn peer<'s>(
        &'s self,
        database: &'s Database,
        pool: u32,
        callers: usize,
        bytes: usize,
    ) -> Contender<'s> {
        let peer = database.by_hand(pool);
        let mut events = Events::of(bytes);
        Contender::new(move |count| {
            let (events, peer) = (events.first(count), peer.clone());
            database.empty();
            let runtime = self.databases.runtime();
            runtime.block_on(crowd(events, callers, move |event| {
                let peer = peer.clone();
                async move { peer.claim(event).await }
            }))
        })
    }

    /// How many connections serve the peer best.
    fn better_pool(&self, database: &Database) -> u32 {
        let pools = POOLS.map(|pool| self.peer(database, pool, 64, SMALL));
        let bouts = contest(self.effort, pools);
        let [fewer, more] = POOLS;
        let is_better = bouts.median(|[fewer, more]| more.rate() / fewer.rate()) > 1.0;
        if is_better { more } else { fewer }
    }
}

const POOLS: [u32; 2] = [8, 16];
