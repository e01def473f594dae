//! The conformance suite that every ledger runs. For the tests of ledgers only.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

pub mod ledger;
