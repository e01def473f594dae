//! The Linear provider: `Linear-Signature` as data.
//!
//! ```text
//! Linear-Delivery: 70f1e4e2-31e8-45f6-a35e-6254e47d0669
//! Linear-Signature: 6c29b31f7ded43b1ad9db94eaf59c16ffe5979071da38776a8b34020332b79d3
//!
//! {"type":"Issue","action":"create","organizationId":"ddbf3128-…","data":{…},"webhookTimestamp":1750000000000}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the body and nothing else; HMAC-SHA256 in lower-case hex, without a prefix, under the secret text |
//! | window | one minute on both sides, as Linear's library has it; the timestamp is `webhookTimestamp` of the body, in **milliseconds** |
//! | id | `Linear-Delivery`, **unsigned**; that it is the same on retries is **unverified** |
//! | type, account | `type`, `organizationId` of the body, both signed |
//! | handlers decode | the whole body: `action` says what became of `data` |
//! | redelivers | after a minute, an hour and six hours (second-hand); at somebody's request: not documented |
//!
//! - The timestamp is read once the signature holds, and before anything else of the body. `Linear-Timestamp` is
//!   unsigned, and ignored.
//! - Whether a retry has a fresh `webhookTimestamp` is **unverified**. If it had the first one, a window of one minute would
//!   refuse it: watch what is counted as stale and authentic, and widen the window with `Endpoint::window` if it is retries.
//! - Linear takes 200 for success and nothing else, and waits for five seconds (second-hand).
//!
//! # Unsigned ids
//!
//! Whoever captures a request can send it again under a fresh id for as long as the window is open. So the digest of the signed
//! content is claimed beside the id, and handlers get `Unsigned<EventId>`. The type is read from the signed body and not
//! from `Linear-Event`; what the core knows of one id's provenance it assumes for both, so handlers get `Unsigned<EventType>`, too.
//!
//! # What it will not do
//!
//! Take a timestamp in seconds, or as a string.
//!
//! Sources: @linear/sdk 98.0.0, its webhooks client; linear.app/developers, *Webhooks* (second-hand).

mod envelope;
mod event;

pub use envelope::Linear;
