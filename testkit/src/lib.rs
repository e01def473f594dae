//! The conformance suite that every ledger runs. For the tests of ledgers only.
//!
//! [`ledger`] says how a store runs it, and what it demands. `webhook-sqlx` runs it on SQLite and
//! PostgreSQL. The crate knows the core and nothing else: no SQL, no store.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

pub mod ledger;
