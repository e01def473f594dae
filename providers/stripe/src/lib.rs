//! The Stripe provider: `Stripe-Signature` as data.
//!
//! ```text
//! Stripe-Signature: t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd
//!
//! {"id":"evt_…","object":"event","type":"invoice.paid","livemode":true,"data":{"object":{…}}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `t`, `.`, body; HMAC-SHA256 under the whole secret text, `whsec_` included |
//! | window | five minutes on both sides; retries are signed anew |
//! | id, type, account | `id`, `type`, `account` of the body, all signed |
//! | handlers decode | `data.object`; common ones are in [`payloads`] |
//! | not compared | `pending_webhooks`: it differs between deliveries of one event |
//! | redelivers | for three days by itself, for thirty at somebody's request |
//!
//! Several `v1` elements are one per active secret, while one is rolled. Any match is enough.
//!
//! # Which events are inside
//!
//! A live Connect endpoint also receives test-mode events of connected accounts, and a connected account can bring
//! about any event it likes: a handler that credits customers must not run for either. So an endpoint says what it
//! wants, and the rest is acknowledged, counted and not run.
//!
//! ```
//! use webhook_stripe::Stripe;
//!
//! let own = Stripe::live(); // live mode, events of the account itself
//! let connect = Stripe::live().connected_accounts(); // those of connected accounts instead
//! let some = Stripe::live().accounts(["acct_1s4eRy9wQsnHaux3"]); // of these connected accounts only
//! let sandbox = Stripe::test().any_account();
//! # let _ = (own, connect, some, sandbox);
//! ```
//!
//! # Thin events
//!
//! A thin event (`object` is `v2.core.event`) has no `data.object`. Its handler takes
//! [`RawEvent`](webhook_core::RawEvent), the whole text; `Event<T>` would set it aside as undecodable. Its account is
//! `context`; a snapshot event's `context` is not read, for it may come and go with the endpoint's API version.
//!
//! # What it will not do
//!
//! Read `v0` or any other scheme, take two timestamps, switch the window off, or decode secrets: the Standard Webhooks
//! scheme shares the `whsec_` prefix and nothing else. Events by way of `EventBridge` or `Event Grid` are not signed.
//!
//! Sources: <https://docs.stripe.com/webhooks>, <https://docs.stripe.com/connect/webhooks>,
//! <https://docs.stripe.com/event-destinations>; stripe-python 16.1.0 `_webhook.py`, stripe-node 23.1.0 `Webhooks.js`.

pub mod payloads;

mod envelope;
mod event;

pub use envelope::Stripe;
