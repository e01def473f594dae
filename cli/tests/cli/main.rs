//! The command as a process: what it prints, what it sends, how it ends.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking"
)]

mod inbox;
mod probe;
mod run;
mod send;
mod usage;
mod vectors;
mod verify;
