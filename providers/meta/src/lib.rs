//! The Meta provider, for Graph, Messenger, Instagram and WhatsApp: `X-Hub-Signature-256`, batches and the `hub.challenge`
//! GET as data.
//!
//! ```text
//! X-Hub-Signature-256: sha256=6653913d12c955a53ba6c531d21063ce57913fb2fc25c69d1ef5355faa94b343
//!
//! {"object":"whatsapp_business_account","entry":[{"id":"1029384756","changes":[{"field":"messages","value":{…}}]}]}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the body and nothing else; HMAC-SHA256 in lower-case hex under the app secret's text |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the secret |
//! | events | each item of the batch is one, up to 1000, see below |
//! | account | `entry[].id` of the item: page, Instagram account or WhatsApp business account |
//! | handlers decode | the item, `value` of the event; its `object`, `entry` and `field` are in the raw event |
//! | redelivers | at once, then less often for 36 hours; WhatsApp for 7 days (second-hand); at somebody's request: not documented |
//! | handshake | GET with `hub.verify_token` and `hub.challenge` |
//!
//! # One event an item
//!
//! A body is a batch, and a retry need not hold the same batch. So each item is an event of its own:
//!
//! | item | type | id | `value` |
//! |---|---|---|---|
//! | of `changes[].value.messages[]` | `messages` | its `id`, `wamid.…` | the change's value with this message alone, and the contact who sent it |
//! | of `changes[].value.statuses[]` | `statuses` | its `id`, `:`, its `status` | the same with this status alone |
//! | other of `changes[]` | its `field`: `feed`, `comments` | digest of it, of the entry's id and time | the change's value |
//! | of `messaging[]`, `standby[]` | the member that says it: `message`, `postback`, `read` | `mid` of a message or postback, else digest of it and of the entry's id | the item |
//!
//! All of it is signed. `time` of an entry is when the notification was sent; that a retry repeats it is **unverified**: if it does
//! not, a retried change without an id of its own runs twice.
//!
//! Meta sends non-ASCII text as `\u00e4` and `/` as `\/`, and signs what it sends (that it always does is
//! **unverified**): bytes are verified as they came, and a body that was parsed and written anew fails.
//!
//! # The handshake
//!
//! When a URL is registered Meta asks for it with `hub.mode=subscribe`, `hub.verify_token` and `hub.challenge`. The token is one that
//! you choose, and tell both Meta and the endpoint; it is compared in constant time, and the challenge, if it is at most 256
//! letters, digits, `-`, `.`, `_` or `~`, comes back in plain text. All else is answered 403. Nobody signs it: it claims and runs nothing.
//!
//! ```
//! use webhook_meta::Meta;
//!
//! let meta = Meta::verified_by("a long random word");
//! # let _ = meta;
//! ```
//!
//! # What it will not do
//!
//! Read the SHA-1 signature, `X-Hub-Signature`, that comes beside.
//!
//! Sources: developers.facebook.com, *Webhooks: getting started* (second-hand), *WhatsApp: create a webhook endpoint*, *Messenger:
//! webhooks*.

mod envelope;
mod event;
mod item;

pub use envelope::Meta;
