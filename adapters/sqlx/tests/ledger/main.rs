//! The conformance suite on both stores, and what it cannot see or only one of them can get wrong.
//!
//! The cases of the suite are `webhook_testkit`'s. A case here is an async function over a store that
//! is open to SQL; `cases!` makes it one test a store. Names that begin with a letter and a number are
//! those of the hazards they close.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use webhook_testkit::ledger_conformance;

/// Run each case on a fresh PostgreSQL database and on a fresh SQLite file.
macro_rules! cases {
    ($($case:ident)*) => {
        mod postgres {
            $(#[test] fn $case() {
                webhook_testkit::ledger::run(super::$case::<crate::store::Postgres>);
            })*
        }
        mod sqlite {
            $(#[test] fn $case() {
                webhook_testkit::ledger::run(super::$case::<crate::store::Sqlite>);
            })*
        }
    };
}

/// Run each case on a fresh PostgreSQL database.
macro_rules! on_postgres {
    ($($case:ident)*) => {
        mod postgres {
            $(#[test] fn $case() {
                webhook_testkit::ledger::run::<crate::store::Postgres, _>(super::$case);
            })*
        }
    };
}

/// Run each case on a fresh SQLite file.
macro_rules! on_sqlite {
    ($($case:ident)*) => {
        mod sqlite {
            $(#[test] fn $case() {
                webhook_testkit::ledger::run::<crate::store::Sqlite, _>(super::$case);
            })*
        }
    };
}

mod columns;
mod group;
mod nested;
mod only_postgres;
mod only_sqlite;
mod orphans;
mod outbox;
mod proxy;
mod schema;
mod store;

mod postgres {
    super::ledger_conformance!(crate::store::Postgres);
}

mod sqlite {
    super::ledger_conformance!(crate::store::Sqlite);
}
