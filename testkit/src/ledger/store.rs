//! What the suite asks of a store under test.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use webhook_core::ledger::Ledger;

/// A handler's connection to a store's ledger.
pub type Conn<S> = <<S as Store>::Ledger as Ledger>::Conn;

/// A handler's transaction in a store's ledger.
pub type Tx<S> = <<S as Store>::Ledger as Ledger>::Tx;

/// A database of one case's own, and the few things that a test does beside the ledger.
///
/// Everything else the suite sees through [`Ledger`]. Methods panic when they fail: the case is then
/// lost, as it should be.
pub trait Store: Send + Sync + Sized + 'static {
    /// The ledger under test.
    type Ledger: Ledger;

    /// Make an empty store that no other case sees, with two things of the application's in it: a
    /// place where effects are counted, and a row that can be locked. Both are [`Act`]'s.
    fn create() -> impl Future<Output = Self> + Send;

    /// Remove it. Called once, after the case, also when that panicked; some of its ledgers may not
    /// have been closed.
    fn destroy(&self) -> impl Future<Output = ()> + Send;

    /// Open one more ledger on this store, as one more process would: nothing but the store may be
    /// shared with those opened before. It is not yet prepared.
    fn open(&self) -> impl Future<Output = Self::Ledger> + Send;

    /// Let everything that is recorded have happened `millis` earlier, as though the store's clock had
    /// moved on by that much. A negative number is a clock that was set back.
    ///
    /// Moves every moment that the ledger wrote down, those to come as well: ends of leases, next
    /// attempts, quiet times. Signed timestamps are the provider's and stay. Called while no transaction
    /// is open.
    fn shift(&self, millis: i64) -> impl Future<Output = ()> + Send;

    /// How many claim keys are held in the store: those of events, of tombstones, and what a crash may
    /// have left. Nothing of it can be seen through the ledger, and a leak would show nowhere else.
    fn keys(&self) -> impl Future<Output = u64> + Send;

    /// How many effects are committed.
    fn effects(&self) -> impl Future<Output = u64> + Send;

    /// Do on a handler's connection what a handler might do. See [`Act`] for what each must be.
    fn act(
        conn: &mut Conn<Self>,
        act: Act,
    ) -> impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send;
}

/// What a handler does on the connection it is lent.
///
/// In SQL, with `create table effect (event text not null)` and `create table latch (n integer)`
/// holding one row:
///
/// | act | for example |
/// | --- | --- |
/// | [`Effect`](Self::Effect) | `insert into effect values ('done')` |
/// | [`Lock`](Self::Lock) | `update latch set n = n + 1` |
/// | [`Refused`](Self::Refused) | `insert into effect values (null)` |
/// | [`Slow`](Self::Slow) | `select` of a query that counts to a billion |
/// | [`Commit`](Self::Commit), [`Rollback`](Self::Rollback), [`Begin`](Self::Begin) | `commit`, `rollback`, `begin` |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store must know all of them")]
pub enum Act {
    /// Open a transaction of its own, after it ended the one it was lent.
    Begin,
    /// Commit the transaction it was lent, as it must not. A store whose connection offers no way to do
    /// so answers `Err` to this, to [`Begin`](Self::Begin) and to [`Rollback`](Self::Rollback).
    Commit,
    /// Add one to what [`Store::effects`] counts once it is committed.
    Effect,
    /// Lock the one row that [`Store::create`] left for it, until the transaction ends. Whoever comes
    /// second waits, at most as long as its transaction's limit allows.
    Lock,
    /// Run a statement that the store refuses. Always `Err`.
    Refused,
    /// Roll back the transaction it was lent, as it must not.
    Rollback,
    /// Run a statement that takes the store a minute, without holding up other connections. The suite drops
    /// the future half-way.
    Slow,
}

/// A case as a value: its name, and how it is run.
///
/// For tests that choose cases at run time, such as those that run them on a broken ledger and expect
/// them to fail. Others use [`ledger_conformance!`](crate::ledger_conformance).
#[derive(Debug)]
pub struct Case<S> {
    /// Module and function, for example `claims::tenants_do_not_share_ids`.
    name: &'static str,
    run: Body<S>,
}

/// The case itself.
type Body<S> = fn(Arc<S>) -> Pin<Box<dyn Future<Output = ()>>>;

impl<S: Store> Case<S> {
    pub(crate) const fn new(name: &'static str, run: Body<S>) -> Self {
        Self { name, run }
    }

    /// Its module and name, for example `claims::tenants_do_not_share_ids`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Run it on a store of its own.
    ///
    /// # Panics
    ///
    /// If the store breaks the rule.
    pub fn run(&self) {
        super::run(self.run);
    }
}
