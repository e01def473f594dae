//! The Paddle Billing provider: `Paddle-Signature` as data.
//!
//! ```text
//! Paddle-Signature: ts=1750000000;h1=12a9541dd62481a6247adf0d87abf4c35884d41017e157140050a9a33f9121e9
//!
//! {"event_id":"evt_01j…","event_type":"transaction.completed","notification_id":"ntf_01j…","data":{…}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `ts`, `:`, body; HMAC-SHA256 in lower-case hex under the whole `pdl_ntfset_…` text |
//! | window | five seconds on both sides, as Paddle's libraries have it |
//! | id, type | `event_id`, `event_type` of the body, both signed |
//! | account | none |
//! | handlers decode | `data` |
//! | redelivers | sixty times in three days; in the sandbox three times in a quarter of an hour; for how long somebody can ask for a replay is not documented |
//!
//! - Five seconds are short for a clock that drifts or a proxy that queues. Widen them with `Endpoint::window` if
//!   authentic stale deliveries are counted: a replay within the window is a duplicate all the same.
//! - While a secret is rotated the header has several `h1`. Any match is enough.
//! - A replay is a new notification about the same event: `notification_id` is left out when contents are compared.
//!   That it is the only member to change is **unverified**.
//! - Whether a retry is signed anew is not documented; with a window of five seconds no other would ever be accepted.
//! - Events of one subscription may come out of order.
//!
//! # What it will not do
//!
//! Read `p_signature` of Paddle Classic, which is another product.
//!
//! Sources: developer.paddle.com, *Signature verification* and *Respond to webhooks* (the latter second-hand);
//! PaddleHQ/paddle-python-sdk 1.16.1, paddle-node-sdk 3.10.0, paddle-go-sdk.

mod envelope;
mod event;

pub use envelope::Paddle;
