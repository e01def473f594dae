//! The Dropbox provider: `X-Dropbox-Signature` and its GET challenge as data.
//!
//! ```text
//! X-Dropbox-Signature: d9d9feb41a52bd64dd5c36e58e4eeec510c3b28c160a7ecba5c78634a86e7b8a
//!
//! {"list_folder":{"accounts":["dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc"]},"delta":{"users":[12345678]}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the body and nothing else; HMAC-SHA256 in lower-case hex under the app secret's text |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the secret |
//! | id | none is sent, and equal bodies are different events: an id of our own for each delivery |
//! | type | `list_folder`, the only one: there it stands in the body |
//! | account | none: the body lists many |
//! | handlers decode | the whole body |
//! | redelivers | while an app does not answer within ten seconds (**unverified**), how long is not documented |
//! | handshake | GET with `challenge`, echoed |
//!
//! # A hint that repeats
//!
//! Dropbox names the accounts in which something changed, and nothing else: for the second change of an account it sends
//! the first body again. No digest tells a retry, a replay or a second change apart. So an endpoint says aloud what a body that
//! comes again is, or does not start:
//!
//! - `Endpoint::repeats(Repeats::Run)`: an event of its own. Nothing is lost, and retries and captured requests run again, so the handler
//!   must do no more than ask Dropbox what changed since its cursor. This is what Dropbox means.
//! - `Endpoint::repeats(Repeats::Quarantine)`: kept, not run. Only the first notification of an account ever runs.
//!
//! # The handshake
//!
//! When a URL is registered Dropbox asks for it with `?challenge=…`. The challenge comes back in plain text, with `nosniff`, if
//! it is at most 256 letters, digits, `-`, `.`, `_` or `~`; else the answer is 403. Nobody signs it: it claims and runs nothing.
//!
//! Source: dropbox.com/developers/reference/webhooks (second-hand).

mod envelope;
mod event;

pub use envelope::Dropbox;
