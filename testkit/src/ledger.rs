//! The rules of a ledger, as tests that any implementation runs.

mod checks;
mod claims;
mod clock;
mod fencing;
mod group;
mod identifiers;
mod inline;
mod judgement;
mod leases;
mod list;
mod operators;
mod ordering;
mod post;
mod prepared;
mod quarantined;
mod races;
mod retention;
mod run;
pub mod steps;
mod store;
mod transactions;

pub use list::{all, cases};
pub use post::{ENDPOINT, Post, TYPE};
pub use run::run;
pub use store::{Act, Case, Conn, Store, Tx};
