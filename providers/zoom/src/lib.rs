//! The Zoom provider: `x-zm-signature` as data.
//!
//! ```text
//! x-zm-request-timestamp: 1750000000
//! x-zm-signature: v0=b00cc3e48984ab9044539bb4a7ca5caffdb9e410cdc84cb26271352aa07a4bc6
//!
//! {"event":"meeting.started","payload":{"account_id":"SoWy6d0AMoJjAiAIP4Ifpa","object":{…}},"event_ts":1749999999600}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `v0:`, timestamp, `:`, body; HMAC-SHA256 in lower-case hex under the app's secret token, as text |
//! | window | five minutes on both sides; Zoom names none, and whether a retry is signed anew is not documented |
//! | id | none is sent: a digest of the content, see below |
//! | type, account | `event`, `payload.account_id` of the body, both signed |
//! | handlers decode | `payload` |
//! | redelivers | after 5, 20 and 60 minutes, each after the one before; at somebody's request: not documented |
//!
//! - Zoom takes 200 and 204 for success, and waits for three seconds.
//! - One third party reports retries that repeat the first timestamp (**unverified**): a window of five minutes would refuse most
//!   of them. Watch what is counted as stale and authentic, and widen the window with `Endpoint::window` if it is retries.
//!
//! # Derived ids
//!
//! Zoom names no event. The id is the digest of what the body says, `event_ts` in milliseconds among it, however it is
//! spelled. Two events are one only if they are alike in every member. That a retry says the same as the first attempt is
//! **unverified**.
//!
//! # The handshake
//!
//! `endpoint.url_validation`, sent when a URL is saved and every 72 hours, asks for an HMAC of a text of the sender's choice
//! under the very secret that signs events. An endpoint that answered unsigned ones would sign `v0:…` for anybody, which is
//! an event. So it is answered only once its own signature holds (that Zoom signs it is **unverified**),
//! and only for a token of base64 characters: it holds no `:`.
//!
//! # What it will not do
//!
//! Look at the retired verification token in `authorization`.
//!
//! Sources: developers.zoom.us, *Using webhooks*, *Webhook delays* (the retries), *Webhook URL validation*.

mod envelope;
mod event;

pub use envelope::Zoom;
