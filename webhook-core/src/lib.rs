//! The pure heart of the webhook framework: signature envelopes, keyrings, verification, claims, and
//! the traits that providers, ledgers and handlers implement.
//!
//! No I/O, no clock, no async runtime, no web framework, no SQL. Breaking the order of the gates
//! does not compile:
//!
//! ```text
//! Head ─ judge ─▶ Judged ─ keyed ─▶ Verifier ─ update*, finish ─▶ Verified
//!                                                                   │ Provider::identities
//! handler ◀─ FromClaimed ─ Claimed ◀─ Leased ◀─ Ledger ◀─ NewEvent ◀┘
//! ```
//!
//! | feature | adds |
//! |---|---|
//! | `public-keys` | Ed25519, ECDSA on P-256 and RSA PKCS#1 v1.5, with `aws-lc-rs`, which needs a C compiler |
//! | `sha1` | HMAC-SHA1 |
//!
//! Both are off: the crates of providers that need one turn it on.

pub mod bounds;
pub mod danger;
#[doc(hidden)]
pub mod fault_point;
pub mod ledger;
#[doc(hidden)]
pub mod open_enum;
pub mod outbox;

mod algorithm;
mod arguments;
mod base64;
mod body_timestamp;
mod canonical;
#[cfg(feature = "public-keys")]
mod certificate;
mod check;
mod claim;
mod claimed;
mod clock;
mod crc32;
mod data;
mod describe;
mod digest;
mod envelope;
mod fault;
mod form;
mod future;
mod handler;
mod handler_spec;
mod head;
mod headers;
mod hex;
mod identity;
mod inbox_id;
mod json;
mod judge;
mod keyring;
mod lend;
mod material;
mod outcome;
mod payload;
mod percent;
mod provider;
#[cfg(feature = "public-keys")]
mod public_key;
mod public_url;
mod query;
mod reply;
mod rfc3339;
mod rules;
mod secret;
mod sign;
mod source;
mod standing;
mod tag;
mod timestamp;
mod untrusted;
mod verify;
mod window;
mod wire;

pub use algorithm::Algorithm;
pub use arguments::{Data, Delivery, EffectKey, Event, FromClaimed, RawEvent, SignedIdentity};
pub use canonical::canonical_digest;
pub use claim::{Claim, ClaimKey, ClaimScope, NewEvent, OrderKey};
pub use claimed::Claimed;
pub use clock::Clock;
pub use data::{DataMap, MissingData};
pub use digest::ContentDigest;
pub use envelope::{Candidate, Envelope, Segment};
#[doc(hidden)]
pub use fault::{Answered, Said, SaysNothing};
pub use fault::{Disposition, Fault, HandlerError, HandlerResult, IntoFault, IntoReply, OrElse};
pub use form::Form;
pub use future::BoxFuture;
pub use handler::Handler;
pub use handler_spec::{ConnectionUse, HandlerSpec, Mode};
pub use head::{Head, Malformed};
pub use headers::KeptHeaders;
pub use identity::{
    Account, EventId, EventType, Identities, Identity, IdentityKind, InvalidEvent, Relabelable,
    Signed, Unsigned,
};
pub use inbox_id::InboxId;
pub use json::json_object;
pub use judge::Judged;
pub use keyring::{KeyConfig, KeyFingerprint, KeyInfo, Keyring, KeyringError, SecretFormat};
pub use lend::{BeginError, Lend, Tx};
pub use outcome::{Answer, Outcome};
#[doc(hidden)]
pub use payload::covers;
pub use payload::{Events, Invalid, Payload, Valid, Validate};
pub use provider::{DynProvider, Handshake, Provider, Redelivery, Resigns, Spec};
pub use public_url::{PublicUrl, PublicUrlError};
pub use query::Query;
pub use reply::Reply;
pub use rules::{HeldEvent, Holder, Quarantine, State, Verdict};
pub use secret::Secret;
pub use sign::{SignedTag, Signing};
pub use source::{KeyFault, KeyQuery, KeySource};
pub use tag::Tag;
pub use timestamp::{Arrival, Timestamp, TimestampForm};
pub use untrusted::{ReadBody, UntrustedBody};
pub use verify::{MatchedKey, Rejection, Verified, Verifier};
pub use window::{Freshness, Window, WindowError};
pub use wire::{Grammar, Part, Wire};
