//! The Acme provider: `Acme-Signature` as data.
//!
//! ```text
//! Acme-Signature: t=1750000000,s=0b9cc424acc79edfb345c79726c593e84db91c28982baf5f7d9013a41faf3903
//!
//! {"id":"evt_1","type":"order.paid","shop":"shop_1","data":{…}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `t`, `.`, body; HMAC-SHA256 under the secret text |
//! | window | five minutes on both sides; whether a retry is signed anew is not documented |
//! | id, type, account | `id`, `type`, `shop` of the body, all signed |
//! | handlers decode | `data`; common ones are in [`payloads`] |
//! | redelivers | not documented: identities are kept until an operator says otherwise |
//!
//! # What it will not do
//!
//! Take two timestamps, or read a signature under another name than `s`.
//!
//! Sources: the provider's documentation, with the date it was read; its own library, with its version.

pub mod payloads;

mod envelope;
mod event;

pub use envelope::Acme;
