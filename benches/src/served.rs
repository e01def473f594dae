//! E1 to E5: deliveries over HTTP until they are stored, beside servers that do it by hand.

use bytes::Bytes;
use webhook_benches::{Effort, Report};

use crate::claims::{SMALL, measure, ours as ledger_alone};
use crate::contest::{Bouts, Contender, contest};
use crate::database::{Database, Databases, Disk};
use crate::events::{Events, requests};
use crate::load;
use crate::server::{Running, Server};
use crate::storing;

pub(crate) fn rows(report: &Report, effort: Effort, databases: &Databases) {
    let usual = Served::new(effort, databases, Disk::Usual);
    let slow = Served::new(effort, databases, Disk::Slow);
    let by_hand = std::cell::LazyCell::new(|| usual.beside(SMALL, storing::by_hand));
    let rate = |bouts: &Result<Bouts<2>, String>| {
        measure(bouts, |[ours, theirs]| ours.rate() / theirs.rate())
    };
    report.row("E1a", || rate(&by_hand));
    report.row("E1b", || {
        measure(&by_hand, |[ours, theirs]| ours.p99() / theirs.p99())
    });
    report.row("E2", || rate(&usual.beside(LARGE, |_| Server::Raw.start())));
    report.row("E3", || {
        measure(&usual.apart(), |[ours, server, ledger]| {
            ours.rate() * (server.rate().recip() + ledger.rate().recip())
        })
    });
    report.row("E4a", || rate(&usual.beside(LARGE, storing::by_hand)));
    report.row("E4b", || {
        rate(&usual.beside(LARGE, storing::ids_in_batches))
    });
    report.row("E5", || rate(&slow.beside(SMALL, storing::by_hand)));
}

/// Servers on a database on one disk.
struct Served<'d> {
    effort: Effort,
    databases: &'d Databases,
    disk: Disk,
}

impl<'d> Served<'d> {
    fn new(effort: Effort, databases: &'d Databases, disk: Disk) -> Self {
        Self {
            effort,
            databases,
            disk,
        }
    }

    /// The framework beside the server that `peer` starts.
    fn beside(
        &self,
        bytes: usize,
        peer: impl FnOnce(&Database) -> Running,
    ) -> Result<Bouts<2>, String> {
        let database = self.databases.on(self.disk)?;
        let ours = served(database, storing::framework(database), bytes);
        let peer = served(database, peer(database), bytes);
        Ok(contest(self.effort, [ours, peer]))
    }

    /// The framework, the same without storing, and the ledger without serving.
    fn apart(&self) -> Result<Bouts<3>, String> {
        let database = self.databases.on(self.disk)?;
        let both = served(database, storing::framework(database), LARGE);
        let server = served(database, Server::Framework.start(), LARGE);
        let ledger = ledger_alone(self.databases, database, CONNECTIONS, Events::of(LARGE));
        Ok(contest(self.effort, [both, server, ledger]))
    }
}

/// Send requests to `server`, each with another event.
fn served(database: &Database, server: Running, bytes: usize) -> Contender<'_> {
    let mut made: Vec<Bytes> = Vec::new();
    Contender::new(move |count| {
        if made.len() < count {
            made = requests(count, bytes);
        }
        let requests = made.iter().take(count).cloned().collect();
        database.empty();
        load::send_all(server.address(), requests, CONNECTIONS).expect("answers")
    })
}

/// As large as a payment's event.
const LARGE: usize = 2500;
const CONNECTIONS: usize = 64;
