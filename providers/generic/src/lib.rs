//! The generic provider: a signature scheme from a TOML file or from code, for senders without a crate of their own.
//!
//! ```
//! use webhook_generic::Generic;
//!
//! # fn main() -> Result<(), webhook_generic::ConfigError> {
//! let acme: Generic = Generic::from_toml(r#"
//!     name = "acme"
//!
//!     [signature]
//!     header = "Acme-Signature"
//!     prefix = "sha256="
//!     content = "{timestamp}.{body}"
//!
//!     [timestamp]
//!     header = "Acme-Timestamp"
//!
//!     [event]
//!     id = { body = "/id" }
//!     type = { body = "/type" }
//! "#)?;
//! # let _ = acme;
//! # Ok(())
//! # }
//! ```
//!
//! What comes of it is judged like any other provider: by the same gates, windows, claims and quarantine. A configuration that
//! is not safe is refused when it is read, by key and line; nothing is left for the first request to find out.
//!
//! # Keys
//!
//! | key | is | default |
//! |---|---|---|
//! | `name` | the provider's name, lower case: the default name of its endpoint | |
//! | `url` | the URL as the sender has it, for `{url}` in `content` | none |
//! | `untimestamped` | [`ACKNOWLEDGED`], word for word, in place of `[timestamp]` | |
//! | `signature.header` | where signatures stand | |
//! | `signature.content` | what is signed: text with `{body}` once and `{timestamp}`, `{id}`, `{url}` as needed | |
//! | `signature.algorithm` | `hmac-sha256`; `hmac-sha1` with the feature `sha1` | `hmac-sha256` |
//! | `signature.encoding` | `hex` (lower case) or `base64` (standard, padded) | `hex` |
//! | `signature.form` | `prefixed`, `pairs`, `versioned` or `keyed`: see below | `prefixed` |
//! | `timestamp.header` | where the timestamp stands, unless it is in a `pairs` header or in the body | |
//! | `timestamp.body` | a JSON pointer to it in the signed body: a number, or a string of RFC 3339 | |
//! | `timestamp.format` | `seconds`, `millis` or `rfc3339` | `seconds` |
//! | `timestamp.window_secs` | how far it may be from our clock, on both sides | 300 |
//! | `event.id`, `event.type`, `event.account` | where they are: see below | no account |
//! | `secret.format` | `text` or `base64`: how secrets become key bytes | `text` |
//! | `secret.prefix` | what secrets begin with: kept by `text`, dropped by `base64` | none |
//! | `delivery.success_status` | what it takes for success, 200 to 299 | 200 |
//! | `delivery.content_types` | media types it sends | JSON |
//! | `delivery.max_body_bytes` | the longest body it sends, at most 32 MiB | 1 MiB |
//! | `delivery.payload` | a JSON pointer to what handlers decode | the whole |
//! | `delivery.volatile` | JSON pointers to what differs between deliveries of one event | none |
//! | `delivery.kept_headers` | unsigned headers to store with the event | none |
//! | `delivery.repeats` | types whose bodies may repeat with no replay intended | none |
//! | `delivery.redelivers_for_secs` | for how long it retries by itself | unknown |
//! | `delivery.resigns` | whether a retry is signed anew | unknown |
//! | `handshake` | `{ at = "/type", is = "url_verification", echo = "/challenge" }`: a signed challenge, echoed as plain text | none |
//!
//! The forms of a signature header, with the keys that belong to each:
//!
//! | form | looks like | keys |
//! |---|---|---|
//! | `prefixed` | `sha256=SIG` | `prefix`, may be left out |
//! | `pairs` | `t=TIME,v1=SIG` | `separator`, `timestamp`, `tag` |
//! | `versioned` | `v1,SIG v1,SIG` | `separator`, `mark`, `version` |
//! | `keyed` | `KEY-ID=SIG,KEY-ID=SIG` | `separator` |
//!
//! An id, a type or an account stands at one of
//!
//! - `{ body = "/data/id" }`: a string or a whole number of the signed body; of a list of pointers the first that is there;
//! - `{ signed_header = "X-Id" }`: an id in a header that `content` signs as `{id}`;
//! - `{ header = "X-Id" }`: an id or a type in a header that **nobody signs**;
//! - `{ fixed = "ping" }`: a type, where all events are of one;
//! - `{ digest = true }`: an id that is the digest of the body, where the sender names none.
//!
//! # Signed or not
//!
//! [`Generic`] promises handlers that ids and types are signed, and refuses a configuration with `header` for either.
//! `Generic<Relabelable>` takes it: whoever captured a request can send it under another name, so that the digest of what is signed
//! is claimed beside the id, and handlers get `Unsigned` values.
//!
//! # What it will not do
//!
//! Take a scheme that signs nothing, or whose content leaves the body or the timestamp out; follow a URL from the request; check public
//! keys; answer a challenge that comes unsigned. Texts of a configuration, at most 64 KiB, are kept until the process ends: for
//! start-up, not for a configuration by request.

mod config;
mod content;
mod error;
mod event;
mod places;
mod provider;
mod scheme;

pub use config::{
    ACKNOWLEDGED, AlgorithmName, Config, Delivery, Encoding, Event, Form, Handshake, Place,
    Pointers, Secret, SecretKind, Signature, Timestamp, TimestampFormat,
};
pub use error::ConfigError;
pub use provider::Generic;
