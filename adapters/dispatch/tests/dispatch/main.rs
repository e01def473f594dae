//! The dispatcher, over a real SQLite file and real sockets.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod endpoints;
mod isolation;
mod outage;
mod outcomes;
mod sender;
mod signatures;
mod sink;
