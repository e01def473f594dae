//! Test vectors, attacks and round trips, run against any provider. For the tests of provider crates only.
//!
//! A vector file is a JSON array of cases: what a receiver with these secrets, at this moment, must answer to
//! these headers and this body. [`run`] judges each of them as an endpoint would.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests assert by panicking"
)]

mod attack;
mod forward;
mod receiver;
mod round_trip;
mod samples;
mod signature;
mod vector;

pub use attack::{resist_random_headers, resist_tampering};
pub use forward::must_have;
pub use receiver::{Received, Receiver, Request, Seen};
pub use round_trip::{keeps_a_window_of, keeps_its_window, reads_what_it_signs};
pub use vector::{run, run_each, signs_alike};
