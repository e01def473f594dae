//! The Zendesk provider: `X-Zendesk-Webhook-Signature` as data.
//!
//! ```text
//! X-Zendesk-Webhook-Signature-Timestamp: 2025-06-15T15:06:40Z
//! X-Zendesk-Webhook-Signature: al2xUwi/glSrC6gMxW9p4H1MMlfGNlgwA/6ecxk2Jwk=
//!
//! {"id":"2b24ef10-…","type":"zen:event-type:user.active_changed","account_id":12514403,"detail":{…},"event":{…}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the timestamp's text, body; HMAC-SHA256 in base64 under the secret's text, which looks like base64 and is not decoded |
//! | window | five minutes on both sides; Zendesk names none, and whether a retry is signed anew is not documented |
//! | id, type, account | `id`, `type`, `account_id` of the body, all signed |
//! | handlers decode | the whole body: `event` says what changed, `detail` in what |
//! | redelivers | **unverified**: identities are kept until an operator says otherwise |
//!
//! - Timestamp and body are joined without a separator. The timestamp is RFC 3339 in UTC and in one spelling, so that no
//!   byte can move between them.
//! - That the id stays the same on a retry is **unverified**. `X-Zendesk-Webhook-Invocation-Id` is unsigned and kept.
//! - Zendesk's test button signs with a secret of its own, published: never configure it.
//!
//! # What it will not do
//!
//! Take what a trigger or an automation sends: its body is whatever an administrator wrote, and names no event. Such a
//! delivery is authentic and refused as no event.
//!
//! Sources: developer.zendesk.com, *Anatomy of a webhook request*, *Webhook event types*; *Verifying webhooks* (second-hand).

mod envelope;
mod event;

pub use envelope::Zendesk;
