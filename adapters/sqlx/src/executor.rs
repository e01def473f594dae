//! Where statements run: on a thread of the ledger's own, in tasks that own their connection.
//!
//! A caller that goes away interrupts nothing. A connection whose work did not end, for whatever
//! reason, is closed: nobody after it can inherit a transaction.

use std::convert::Infallible;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Connection, Database};
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;
use tokio::time::timeout;
use webhook_core::ledger::{LedgerError, LedgerFault};

use crate::error::{StoreFault, internal, ledger_error, unavailable};

/// The ledger's thread. It ends when the last clone is gone and every task has ended.
#[derive(Clone)]
pub(crate) struct Executor {
    handle: Handle,
    /// Held by everything that needs the thread; nothing is ever sent.
    alive: mpsc::Sender<Infallible>,
}

/// A connection out of a pool, with what must be held for as long as it is in use.
///
/// Dropped, it is closed, and only then is `G` released. It returns to its pool by
/// [`Lent::give_back`] alone.
pub(crate) struct Lent<DB: Database, G: Send + 'static = ()> {
    held: Option<(PoolConnection<DB>, G)>,
    executor: Executor,
}

impl Executor {
    /// Start the thread.
    pub(crate) fn start() -> Result<Self, LedgerError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ledger_error(error.into()))?;
        let handle = runtime.handle().clone();
        let (alive, mut everyone) = mpsc::channel(1);
        std::thread::Builder::new()
            .name("webhook-ledger".to_owned())
            .spawn(move || runtime.block_on(everyone.recv()))
            .map_err(|error| ledger_error(error.into()))?;
        Ok(Self { handle, alive })
    }

    /// Run `work` to its end, whether or not the caller still waits.
    ///
    /// `patience` is for a server that fell silent: when it is over, `work` is dropped and with it
    /// every connection it holds is closed. The server's own timeouts are shorter.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        patience: Duration,
        work: impl Future<Output = Result<T, LedgerError>> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let alive = self.alive.clone();
        let task = self.handle.spawn(async move {
            let outcome = timeout(patience, work).await;
            drop(alive);
            outcome.unwrap_or_else(|_| Err(unavailable(StoreFault::Silent)))
        });
        task.await
            .unwrap_or_else(|_| Err(internal(StoreFault::Panicked)))
    }

    /// Run `work` beside everything else.
    pub(crate) fn detach(&self, work: impl Future<Output = ()> + Send + 'static) {
        let alive = self.alive.clone();
        self.handle.spawn(async move {
            work.await;
            drop(alive);
        });
    }
}

impl<DB: Database, G: Send + 'static> Lent<DB, G> {
    pub(crate) fn new(connection: PoolConnection<DB>, guard: G, executor: Executor) -> Self {
        Self {
            held: Some((connection, guard)),
            executor,
        }
    }

    /// Return the connection to its pool.
    pub(crate) fn give_back(mut self) {
        // The pool tests and resets it in a task of its own.
        let _on_the_ledgers_thread = self.executor.handle.enter();
        drop(self.held.take());
    }

    /// Return the connection unless `outcome` says that it broke, left a transaction open, or leads to
    /// a store that is no use: one that takes no writes any more may have a successor, which only a
    /// new connection finds.
    pub(crate) fn settle<T>(self, outcome: Result<T, sqlx::Error>) -> Result<T, LedgerError> {
        match outcome {
            Ok(value) => {
                self.give_back();
                Ok(value)
            }
            Err(error) => {
                let is_whole = matches!(error, sqlx::Error::Database(_));
                let error = ledger_error(error);
                let is_useful = *error.kind() != LedgerFault::Unavailable;
                if is_whole && is_useful && !self.is_in_transaction() {
                    self.give_back();
                }
                Err(error)
            }
        }
    }

    /// Close the connection and wait for the end of it.
    pub(crate) async fn close(mut self) {
        if let Some((connection, guard)) = self.held.take() {
            close(connection.detach()).await;
            drop(guard);
        }
    }
}

impl<DB: Database, G: Send + 'static> Deref for Lent<DB, G> {
    type Target = DB::Connection;

    #[expect(clippy::expect_used, reason = "taken only by methods that take `self`")]
    fn deref(&self) -> &DB::Connection {
        &self.held.as_ref().expect("lent until it is given back").0
    }
}

impl<DB: Database, G: Send + 'static> DerefMut for Lent<DB, G> {
    #[expect(clippy::expect_used, reason = "taken only by methods that take `self`")]
    fn deref_mut(&mut self) -> &mut DB::Connection {
        &mut self.held.as_mut().expect("lent until it is given back").0
    }
}

impl<DB: Database, G: Send + 'static> Drop for Lent<DB, G> {
    fn drop(&mut self) {
        if let Some((connection, guard)) = self.held.take() {
            // Detached at once: were the thread gone, the pool's own drop would panic.
            let connection = connection.detach();
            self.executor.detach(async move {
                close(connection).await;
                drop(guard);
            });
        }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Executor")
    }
}

/// A server that does not answer the farewell is not waited for.
async fn close<C: Connection>(connection: C) {
    let _ = timeout(FAREWELL, connection.close()).await;
}

const FAREWELL: Duration = Duration::from_secs(5);
