//! What all benchmarks share: the table of goals, the options, the races, the deliveries.
//!
//! The measurements themselves are in the two bench targets, `rows.rs` and `allocations.rs`; only those
//! see the peers.

mod delivery;
mod goal;
mod options;
mod race;
mod report;

pub use delivery::{Delivery, PATH, SECRETS, verify};
pub use goal::{GOALS, Goal, Row};
pub use options::{Effort, Options};
pub use race::{Case, Laps, race};
pub use report::{Measure, Ratio, Report, quantile};
