//! The Standard Webhooks provider: `webhook-signature` as data. Every sender that keeps to
//! <https://www.standardwebhooks.com>, Svix among them.
//!
//! ```text
//! webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek
//! webhook-timestamp: 1614265330
//! webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
//!
//! {"type":"contact.created","timestamp":"2022-11-03T20:26:10.344522Z","data":{…}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `webhook-id`, `.`, `webhook-timestamp`, `.`, body; base64 of HMAC-SHA256 (`v1`) or Ed25519 (`v1a`) |
//! | key | after `whsec_` base64 of a secret, after `whpk_` of a public key; to sign `v1a`, after `whsk_` of its private one |
//! | window | five minutes on both sides; every attempt is signed anew |
//! | id | `webhook-id`, signed, the same for every attempt |
//! | type | `type` of the body, signed |
//! | account | none |
//! | handlers decode | `data`, or with [`Standard::whole_body`] the whole |
//! | redelivers | as the sender likes: identities are kept until an operator says otherwise |
//!
//! - `webhook-signature` is a list parted by single spaces, one element for each live key of the sender. Any match is
//!   enough; versions other than `v1` and `v1a` are ignored.
//! - A keyring may hold `whsec_` and `whpk_` keys beside each other, as while a sender moves from one to the other. A
//!   `v1` is tried with secrets alone and a `v1a` with public keys alone: a public key is never an HMAC secret.
//! - `v1a` is checked strictly: `S` is below the group's order, and neither the key nor `R` is of small order.
//! - `svix-id`, `svix-timestamp` and `svix-signature` are read alike. Headers of both names in one request are refused:
//!   libraries disagree on which of them count.
//! - An id holds no `.`: it would let bytes move from the body to the id and the timestamp under one signature. The
//!   specification asks senders to keep to it, and this receiver refuses who does not.
//!
//! # Senders that differ a little
//!
//! ```
//! use webhook_standard::Standard;
//!
//! let by_the_book = Standard::new();
//! let no_data_member = Standard::new().whole_body();
//! let secrets_are_text = Standard::new().text_secrets(); // the secret's text is the key, prefix and all
//! # let _ = (by_the_book, no_data_member, secrets_are_text);
//! ```
//!
//! # Signing
//!
//! [`Provider::sign`](webhook_core::Provider::sign) writes the three `webhook-` headers. Name the event with
//! [`Signing::id`](webhook_core::Signing::id), and sign with every live key while one is rotated:
//!
//! ```
//! use webhook_core::{EventId, KeyConfig, Keyring, Provider as _, Signing};
//! use webhook_standard::Standard;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let standard = Standard::new();
//! let secret = KeyConfig::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
//! let keys = Keyring::build(standard.spec().secret(), [secret])?;
//! let body = br#"{"test": 2432232314}"#;
//! let id = EventId::new("msg_p5jXN8AQM9LWM0D4loKWxJek")?;
//! let headers = standard.sign(&Signing::new(&keys, body, 1_614_265_330).id(id).with_every_key());
//! let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned();
//! assert_eq!(headers.last(), Some(&("webhook-signature", signature)));
//! # Ok(())
//! # }
//! ```
//!
//! With a `whsk_` key it signs `v1a`. Keys that anybody may know sign nothing:
//! [`Keyring::ensure_signs`](webhook_core::Keyring::ensure_signs) says so before the first event does.
//!
//! # What it will not do
//!
//! Repair unpadded base64, or a timestamp that is not canonical decimal. Take an event without `type`.
//!
//! # Who keeps to it
//!
//! Svix, and whoever sends through Svix: Clerk and Resend under `svix-` names. `OpenAI`, the auth hooks of `Supabase` and others under `webhook-`
//! names (second-hand; look at a delivery). GitLab's signing tokens have a crate of their own, `webhook-gitlab`.
//!
//! Sources: standard-webhooks/standard-webhooks `spec/standard-webhooks.md` and `libraries`; svix/svix-docs
//! `content/receiving/verifying-payloads`; standardwebhooks 1.1.0 (Python) and 1.1.1 (JavaScript), svix-python 2.9.1.

mod envelope;
mod event;

pub use envelope::Standard;
