//! The Intercom provider: `X-Hub-Signature` with SHA-1 as data.
//!
//! ```text
//! X-Hub-Signature: sha1=21ff2e149e0fdcac6f947740f6177f6434bda921
//!
//! {"type":"notification_event","app_id":"a86dr8yl","id":"notif_78c122d0-…","topic":"contact.user.created","data":{…}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | body; HMAC-SHA1 in lower-case hex under the app's client secret |
//! | window | none: no timestamp is signed in a way that could be judged, and a captured request is good for as long as the secret |
//! | id, type, account | `id` (`notif_…`), `topic` and `app_id` of the body, all signed; that retries repeat the id is **unverified** |
//! | handlers decode | `data.item` |
//! | redelivers | **unverified**: identities are kept until an operator says otherwise |
//!
//! `delivery_attempts`, `delivery_status`, `delivered_at` and `first_sent_at` tell of deliveries, not of the event: they may differ between
//! two of them, and do not count when contents are compared.
//!
//! HMAC-SHA1 is what Intercom sends. Collisions of SHA-1 do not forge it; nothing here takes another algorithm in its
//! place. A subscription that was made without a secret is not signed, and is refused.
//!
//! An answer is due within five seconds. Whether Intercom asks for a URL with HEAD when a subscription is made is
//! **unverified**, and nothing here answers it.
//!
//! Sources (second-hand): developers.intercom.com, *Webhook notifications*, *Webhook models*, *Signed notifications*. No vectors are
//! published: those of this crate were computed with Python's `hmac`.

mod envelope;
mod event;

pub use envelope::Intercom;
