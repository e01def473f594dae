//! The timestamped provider: `X-Webhook-Signature` as data. This framework's own scheme, for senders that have none.
//!
//! ```text
//! X-Webhook-Timestamp: 1750000000
//! X-Webhook-Signature: 2025-06=19f1e361fe334abc34d6c932016b086d2442bfaf22e4a46bb164abb072b91a82
//!
//! {"id":"evt_vLBXb5A2zXufJJQcVIVq","type":"note.created","data":{"amount":25}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | timestamp, `.`, body; HMAC-SHA256 under the secret text |
//! | window | five minutes on both sides |
//! | id, type | `id` and `type` of the body, signed: 1 to 255 bytes without control characters |
//! | account | none |
//! | handlers decode | the whole body; `data` is the sender's to fill or leave out |
//! | redelivers | as the sender likes: identities are kept until an operator says otherwise |
//!
//! The signature is a list of `key-id=hex` parted by commas, or one bare `hex`:
//!
//! - Key ids are 1 to 64 of `A-Z a-z 0-9 . _ -`, in this case only, each at most once. No spaces; bare and named
//!   signatures do not mix; hex is lower case and of 64 digits.
//! - A named signature is tried with the key of that name only, a bare one with every live key. Any match is enough.
//! - While a key is rotated, sign with both; ids the receiver does not know are ignored beside one it does.
//!
//! A sender must keep the id of an event over its retries and sign each of them anew.
//!
//! # What it will not do
//!
//! Repair a timestamp (canonical decimal only), read a second field of either header, or take an event without an id.

mod envelope;
mod event;

pub use envelope::Timestamped;
