//! The guarded client, on real sockets: receivers and name servers of these tests, on loopback addresses
//! that an allow-list opens.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests assert by panicking"
)]

mod answers;
mod budgets;
mod names;
mod proxy;
mod registries;
mod reuse;
mod spellings;
mod support;
mod table;
mod tls;
mod views;
