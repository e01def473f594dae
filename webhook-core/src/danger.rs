//! What is safe only under a condition that the caller must uphold.

use crate::timestamp::Arrival;

/// Vouch for the arrival time of a request that waited elsewhere, for example in a queue.
///
/// Only for a time that *your own* receiver wrote down when the bytes arrived. A time taken
/// from the message, or from a queue that others can write to, switches the replay window off.
pub fn trusted_arrival(unix_secs: i64) -> Arrival {
    Arrival(unix_secs)
}
