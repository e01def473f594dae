//! The ledger on SQLite and PostgreSQL.
//!
//! `PostgresLedger` is for any number of processes, `SqliteLedger` for one that wants no server.
//! Both keep claims, inbox, quarantine and the registry of keys beside the application's own tables, so
//! that what a handler does on the connection it is lent commits together with its event's
//! completion, or not at all. Applications hand one to the builder of their HTTP adapter; the engine
//! alone calls it.
//!
//! ```no_run
//! use webhook_core::ledger::{Ledger, LedgerError, Registration};
//! use webhook_sqlx::SqliteLedger;
//!
//! # async fn start() -> Result<(), LedgerError> {
//! let ledger = SqliteLedger::open("app.db").await?;
//! let notices = ledger.prepare(Registration::default()).await?;
//! assert!(notices.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! | feature | adds | default |
//! |---|---|---|
//! | `postgres` | `PostgresLedger` | yes |
//! | `sqlite` | `SqliteLedger` | yes |
//!
//! # What holds
//!
//! - No statement is abandoned half-way: all of them run on a thread of the ledger's own, whatever
//!   becomes of the caller. A connection whose work did not end is closed.
//! - Handlers never get a connection that claims run on, and never one that still bears what another
//!   handler did to it.
//! - A handler that swallows an error, or ends the transaction itself, does not complete its event.
//! - A commit whose answer was lost is looked up, not guessed.
//! - Errors carry the store's codes and none of its words: those quote rows.
//!
//! # What it will not do
//!
//! Use a database in memory, a server that forgets (`fsync = off`), or a pooler that hands out sessions
//! by the transaction. Forget anything by itself: `Ledger::prune` is called by the engine. Log a
//! statement, its own or a handler's.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod batch;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod checks;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod error;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod executor;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod listed;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod newer_than;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod outbox;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod stored;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use newer_than::{Newer, NewerThan};
#[cfg(feature = "postgres")]
pub use postgres::{PoolSizes, PostgresLedger, PostgresOutbox, PostgresTx};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteLedger, SqliteOutbox, SqliteTx};
