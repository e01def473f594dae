//! What goes wrong, and when.

use std::fmt;
use std::io::{BufRead as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use webhook_tests::torture::{Dice, LEASE};

use crate::database::Database;
use crate::journal::Journal;
use crate::receivers::Receivers;

/// Draws mishaps from a seed and counts them. Its [`Display`](fmt::Display) is the count.
#[derive(Debug)]
pub(crate) struct Chaos<'a> {
    dice: Dice,
    database: &'a Database,
    can_crash_server: bool,
    journal: Journal,
    /// What is to be undone, and when.
    later: Vec<(Instant, Undo)>,
    next: Instant,
    counts: Counts,
}

#[derive(Debug)]
enum Undo {
    Continue(usize),
    Revive(usize),
}

#[derive(Debug, Default)]
struct Counts {
    cycles: u32,
    kills: u32,
    stops: u32,
    orderly: u32,
    caught_settling: u32,
    cuts: u32,
    crashes: u32,
}

/// What happens to a receiver or to its way to the database.
#[derive(Debug, Clone, Copy)]
enum Mishap {
    Crash,
    Cut,
    Kill,
    Orderly,
    Stop,
}

impl<'a> Chaos<'a> {
    pub(crate) fn new(
        seed: u64,
        database: &'a Database,
        can_crash_server: bool,
        journal: &Journal,
    ) -> Self {
        Self {
            dice: Dice::new(seed),
            database,
            can_crash_server,
            journal: journal.clone(),
            later: Vec::new(),
            next: Instant::now() + Duration::from_secs(1),
            counts: Counts::default(),
        }
    }

    /// Undo what is due, do what is next, wait a little.
    pub(crate) fn step(&mut self, receivers: &mut Receivers) {
        let now = Instant::now();
        let (due, later) = self.later.drain(..).partition(|(at, _)| *at <= now);
        self.later = later;
        for (_, undo) in Vec::from_iter::<Vec<_>>(due) {
            match undo {
                Undo::Continue(number) => receivers.signal(number, "CONT"),
                Undo::Revive(number) => receivers.revive(number),
            }
        }
        receivers.look_after();
        if self.next <= now {
            self.counts.cycles += 1;
            let who = usize::try_from(self.dice.below(receivers.count() as u64)).unwrap();
            let mishap = self.draw();
            if self.database.is_postgres() && self.dice.percent(30) {
                self.catch_settling(mishap, receivers);
            } else {
                self.cause(mishap, who, receivers);
            }
            // One alone needs time to get anything done.
            let respite = if receivers.count() == 1 { 1800 } else { 900 };
            self.next = Instant::now() + Duration::from_millis(100 + self.dice.below(respite));
        }
        thread::sleep(Duration::from_millis(10));
    }

    fn draw(&mut self) -> Mishap {
        match self.dice.below(100) {
            0..20 => Mishap::Stop,
            20..28 => Mishap::Orderly,
            28..50 if self.database.is_postgres() => Mishap::Cut,
            50..56 if self.can_crash_server => Mishap::Crash,
            _ => Mishap::Kill,
        }
    }

    fn cause(&mut self, mishap: Mishap, who: usize, receivers: &mut Receivers) {
        let concerns_receiver = matches!(mishap, Mishap::Kill | Mishap::Orderly | Mishap::Stop);
        if concerns_receiver && !receivers.is_running(who) {
            return;
        }
        self.journal.note(&format!("{mishap:?} {who}"));
        match mishap {
            Mishap::Kill => {
                self.counts.kills += 1;
                receivers.kill(who);
                let absence = Duration::from_millis(self.dice.below(300));
                self.later(absence, Undo::Revive(who));
            }
            Mishap::Stop => {
                self.counts.stops += 1;
                receivers.signal(who, "STOP");
                let length = LEASE.mul_f64(0.5) + Duration::from_millis(self.dice.below(2500));
                self.later(length, Undo::Continue(who));
            }
            Mishap::Orderly => {
                self.counts.orderly += 1;
                receivers.signal(who, "CONT");
                receivers.stop(who);
                self.later(Duration::ZERO, Undo::Revive(who));
            }
            Mishap::Cut => {
                // The server may be recovering from a crash.
                if let Ok(cut) = self.database.texts(CUT) {
                    self.counts.cuts += u32::try_from(cut.len()).unwrap();
                }
            }
            Mishap::Crash => {
                self.counts.crashes += 1;
                println!("crash");
                std::io::stdout().flush().unwrap();
                let back = std::io::stdin().lock().read_line(&mut String::new());
                assert_ne!(back.unwrap(), 0, "the server did not come back");
            }
        }
    }

    /// Wait until an event is being completed or committed, and let it happen to that one's receiver.
    fn catch_settling(&mut self, mishap: Mishap, receivers: &mut Receivers) {
        for _ in 0..100 {
            let caught = self.database.texts(SETTLING).unwrap_or_default();
            let number = caught.first().and_then(|name| name.parse().ok());
            if let Some(number) = number.filter(|number| *number < receivers.count()) {
                self.counts.caught_settling += 1;
                self.journal.note("caught settling:");
                return match mishap {
                    Mishap::Cut => {
                        let cut = self.database.texts(CUT_SETTLING).unwrap_or_default();
                        self.journal.note(&format!("cut {cut:?}"));
                        self.counts.cuts += u32::try_from(cut.len()).unwrap();
                    }
                    _ => self.cause(mishap, number, receivers),
                };
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn later(&mut self, wait: Duration, undo: Undo) {
        self.later.push((Instant::now() + wait, undo));
    }
}

impl fmt::Display for Chaos<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts {
            cycles,
            kills,
            stops,
            orderly,
            caught_settling,
            cuts,
            crashes,
        } = &self.counts;
        write!(
            f,
            "{cycles} cycles, {kills} kills, {stops} stops, {orderly} orderly restarts, \
             {cuts} connections cut, {crashes} server crashes, {caught_settling} of these while settling"
        )
    }
}

const CUT: &str = "
select pg_catalog.pg_terminate_backend(pid)::text
from (
    select pid from pg_catalog.pg_stat_activity
    where datname = pg_catalog.current_database() and application_name like 'receiver-%'
    order by pg_catalog.random() limit 3
) as chosen";

const CUT_SETTLING: &str = "
select pg_catalog.pg_terminate_backend(pid)::text
from pg_catalog.pg_stat_activity
where datname = pg_catalog.current_database() and wait_event = 'PgSleep'";

/// Numbers of receivers that wait for a completion or a commit which the triggers hold up.
const SETTLING: &str = "
select pg_catalog.substr(application_name, 10)
from pg_catalog.pg_stat_activity
where datname = pg_catalog.current_database() and application_name like 'receiver-%'
  and wait_event = 'PgSleep'";
