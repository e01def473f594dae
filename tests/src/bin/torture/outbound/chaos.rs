//! What goes wrong with senders and their receiver, and when.

use std::fmt;
use std::io::{BufRead as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use webhook_tests::outbound::LEASE;
use webhook_tests::torture::Dice;

use crate::database::Database;
use crate::journal::Journal;
use crate::receivers::Receivers;

/// Draws mishaps from a seed and counts them. Its [`Display`](fmt::Display) is the count.
#[derive(Debug)]
pub(crate) struct Chaos<'a> {
    dice: Dice,
    shop: &'a Database,
    customer: &'a Database,
    can_crash_server: bool,
    journal: Journal,
    /// What is to be undone, and when.
    later: Vec<(Instant, Undo)>,
    next: Instant,
    counts: Counts,
}

#[derive(Debug, Clone, Copy)]
enum Undo {
    Continue(usize),
    ReviveReceiver,
    ReviveSender(usize),
}

#[derive(Debug, Default)]
struct Counts {
    cycles: u32,
    kills: u32,
    receiver_kills: u32,
    stops: u32,
    orderly: u32,
    cuts: usize,
    crashes: u32,
}

impl<'a> Chaos<'a> {
    pub(crate) fn new(
        seed: u64,
        shop: &'a Database,
        customer: &'a Database,
        can_crash_server: bool,
        journal: &Journal,
    ) -> Self {
        Self {
            dice: Dice::new(seed),
            shop,
            customer,
            can_crash_server,
            journal: journal.clone(),
            later: Vec::new(),
            next: Instant::now() + Duration::from_secs(1),
            counts: Counts::default(),
        }
    }

    /// Undo what is due, do what is next, wait a little.
    pub(crate) fn step(&mut self, senders: &mut Receivers, receiver: &mut Receivers) {
        let now = Instant::now();
        let (due, later): (Vec<_>, _) = self.later.drain(..).partition(|(at, _)| *at <= now);
        self.later = later;
        for (_, undo) in due {
            match undo {
                Undo::Continue(number) => senders.signal(number, "CONT"),
                Undo::ReviveReceiver => receiver.revive(0),
                Undo::ReviveSender(number) => senders.revive(number),
            }
        }
        senders.look_after();
        receiver.look_after();
        if self.next <= now {
            self.counts.cycles += 1;
            let who = usize::try_from(self.dice.below(senders.count() as u64)).unwrap();
            self.strike(who, senders, receiver);
            // One alone needs time to get anything done.
            let respite = if senders.count() == 1 { 1800 } else { 900 };
            self.next = Instant::now() + Duration::from_millis(100 + self.dice.below(respite));
        }
        thread::sleep(Duration::from_millis(10));
    }

    fn strike(&mut self, who: usize, senders: &mut Receivers, receiver: &mut Receivers) {
        let absence = Duration::from_millis(self.dice.below(300));
        let drawn = self.dice.below(100);
        match drawn {
            0..15 if receiver.is_running(0) => {
                self.counts.receiver_kills += 1;
                self.journal.note("kill the receiver");
                receiver.kill(0);
                self.later(absence, Undo::ReviveReceiver);
            }
            15..30 if self.shop.is_postgres() => {
                self.journal.note("cut connections");
                for database in [self.shop, self.customer] {
                    // The server may be recovering from a crash.
                    self.counts.cuts += database.texts(CUT).map_or(0, |cut| cut.len());
                }
            }
            30..35 if self.can_crash_server => {
                self.counts.crashes += 1;
                self.journal.note("crash the server");
                println!("crash");
                std::io::stdout().flush().unwrap();
                let back = std::io::stdin().lock().read_line(&mut String::new());
                assert_ne!(back.unwrap(), 0, "the server did not come back");
            }
            _ if !senders.is_running(who) => {}
            35..60 => {
                self.counts.stops += 1;
                self.journal.note(&format!("stop sender {who}"));
                senders.signal(who, "STOP");
                let length = LEASE.mul_f64(0.5) + Duration::from_millis(self.dice.below(2500));
                self.later(length, Undo::Continue(who));
            }
            60..70 => {
                self.counts.orderly += 1;
                self.journal
                    .note(&format!("orderly restart of sender {who}"));
                senders.signal(who, "CONT");
                senders.stop(who);
                self.later(Duration::ZERO, Undo::ReviveSender(who));
            }
            _ => {
                self.counts.kills += 1;
                self.journal.note(&format!("kill sender {who}"));
                senders.kill(who);
                self.later(absence, Undo::ReviveSender(who));
            }
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
            receiver_kills,
            stops,
            orderly,
            cuts,
            crashes,
        } = &self.counts;
        write!(
            f,
            "{cycles} cycles, {kills} senders and {receiver_kills} times the receiver killed, {stops} stops, \
             {orderly} orderly restarts, {cuts} connections cut, {crashes} server crashes"
        )
    }
}

const CUT: &str = "
select pg_catalog.pg_terminate_backend(pid)::text
from (
    select pid from pg_catalog.pg_stat_activity
    where datname = pg_catalog.current_database()
      and (application_name like 'shop-%' or application_name like 'customer-%')
    order by pg_catalog.random() limit 3
) as chosen";
