//! The ledger on SQLite and PostgreSQL.
//!
//! [`PostgresLedger`] is for any number of processes, [`SqliteLedger`] for one that wants no server.
//! Both hold claims, inbox, quarantine and the key registry beside the application's own tables, so
//! that what a handler does on the connection it is lent commits together with its event's
//! completion, or not at all.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod error;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod executor;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod stored;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "postgres")]
pub use postgres::{PoolSizes, PostgresLedger, PostgresTx};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteLedger, SqliteTx};
