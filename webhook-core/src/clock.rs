//! Where the present comes from. The core never reads a clock itself.

use std::fmt::Debug;

/// A wall clock. Freshness and key retirement are judged by it; leases and schedules are not,
/// they use the store's.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Whole Unix seconds.
    fn unix_secs(&self) -> i64;
}
