//! What every ledger must do, run against both stores, and what only one of them can get wrong.
//!
//! A case is an async function over a [`store::Store`]; `cases!` makes it one test a store. Names
//! that begin with a letter and a number are those of the hazards they close.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

/// Run each case on a fresh PostgreSQL database and on a fresh SQLite file.
macro_rules! cases {
    ($($case:ident)*) => {
        mod postgres {
            $(#[test] fn $case() { crate::store::run(super::$case::<crate::store::Postgres>); })*
        }
        mod sqlite {
            $(#[test] fn $case() { crate::store::run(super::$case::<crate::store::Sqlite>); })*
        }
    };
}

mod checks;
mod claims;
mod group;
mod inline;
mod judgement;
mod leases;
mod only_postgres;
mod only_sqlite;
mod operators;
mod ordering;
mod post;
mod prepared;
mod proxy;
mod quarantined;
mod retention;
mod store;
mod transactions;
