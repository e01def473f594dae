#![doc = include_str!("../README.md")]
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

pub mod ledger;
#[cfg(feature = "provider")]
pub mod provider;

#[cfg(feature = "harness")]
mod answer;
#[cfg(feature = "harness")]
mod harness;
#[cfg(feature = "harness")]
mod http;
#[cfg(feature = "harness")]
mod manual_clock;
#[cfg(feature = "harness")]
mod meeting;
#[cfg(feature = "harness")]
mod stage;
#[cfg(feature = "harness")]
mod staged;

#[cfg(feature = "harness")]
pub use webhook_fixtures as fixtures;

#[cfg(feature = "harness")]
pub use answer::Answer;
#[cfg(feature = "harness")]
pub use harness::{Harness, keys};
#[cfg(feature = "harness")]
pub use http::Http;
#[cfg(feature = "harness")]
pub use manual_clock::ManualClock;
#[cfg(feature = "harness")]
pub use meeting::Meeting;
#[cfg(feature = "harness")]
pub use stage::{Act, Point, Stage};
#[cfg(feature = "harness")]
pub use staged::{Staged, StagedTx};
