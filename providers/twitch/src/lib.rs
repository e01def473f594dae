//! The Twitch provider: EventSub over webhooks as data.
//!
//! ```text
//! Twitch-Eventsub-Message-Id: 482b7cb9-2049-48b2-a849-7c27e6383242
//! Twitch-Eventsub-Message-Timestamp: 2025-06-15T15:06:39.618908427Z
//! Twitch-Eventsub-Message-Signature: sha256=7f1f19c13b2244c070374ee9a5e0c25561ea380ef1cf85be965be975a55f77fb
//!
//! {"subscription":{"type":"channel.follow","status":"enabled", …},"event":{…}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | message id, timestamp's text, body; HMAC-SHA256 in lower-case hex under the secret text |
//! | window | ten minutes on both sides, as Twitch advises (**unverified** wording); whether a retry is signed anew is not documented |
//! | id | `Twitch-Eventsub-Message-Id`, signed, the same on retries |
//! | type | `subscription.type` of the body, or `revocation`; see below |
//! | account | none |
//! | handlers decode | the whole body: `subscription` says whose event it is, `event` what happened |
//! | redelivers | **unverified**: identities are kept until an operator says otherwise |
//!
//! # Three kinds of message
//!
//! `Twitch-Eventsub-Message-Type` is **not signed**: whoever captured a notification could call it something else. The signed body
//! says what it is.
//!
//! | body | is |
//! |---|---|
//! | has a `challenge` | the handshake of a new subscription, answered with it in plain text |
//! | has `event` or `events` | a notification, of the subscription's type |
//! | neither, and the subscription is not `enabled` | a `revocation`: Twitch ended the subscription for the reason in `subscription.status` |
//!
//! # Parts without separators
//!
//! Id, timestamp and body are joined without a separator. An id holds no `:` here, and a timestamp is RFC 3339 in UTC in
//! one spelling: it begins at the only place where an id can end, and ends at its `Z`. So no byte can move between
//! them under one signature.
//!
//! # What it will not do
//!
//! Take offsets, which RFC 3339 allows and Twitch does not send, or a challenge over 4 KiB or with control characters.
//!
//! Sources: <https://dev.twitch.tv/docs/eventsub/handling-webhook-events>, <https://dev.twitch.tv/docs/eventsub>.

mod envelope;
mod event;

pub use envelope::Twitch;
