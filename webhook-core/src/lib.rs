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

pub mod bounds;
pub mod danger;
pub mod ledger;

mod canonical;
mod claim;
mod claimed;
mod clock;
mod digest;
mod envelope;
mod handler;
mod head;
mod headers;
mod hex;
mod identity;
mod json;
mod keyring;
mod outcome;
mod provider;
mod secret;
mod sign;
mod source;
mod timestamp;
mod verify;
mod window;
mod wire;

pub use canonical::canonical_digest;
pub use claim::{
    Claim, ClaimKey, ClaimScope, HeldEvent, Holder, InboxId, NewEvent, Quarantine, State, Verdict,
};
pub use claimed::{
    Claimed, Data, Delivery, EffectKey, Event, FromClaimed, RawEvent, SignedIdentity, Tx,
};
pub use clock::Clock;
pub use digest::ContentDigest;
pub use envelope::{Algorithm, Candidate, Envelope, Segment, Tag};
pub use handler::{
    BeginError, BoxFuture, ConnectionUse, DataMap, Disposition, Handler, HandlerError,
    HandlerResult, HandlerSpec, IntoFault, IntoReply, Lend, MissingData, Mode, OrElse, Reply,
};
pub use head::{Head, Malformed};
pub use headers::KeptHeaders;
pub use identity::{
    Account, EventId, EventType, Identities, Identity, IdentityKind, InvalidEvent, Relabelable,
    Signed, Unsigned,
};
pub use json::json_object;
pub use keyring::{KeyConfig, KeyFingerprint, Keyring, KeyringError, SecretFormat};
pub use outcome::{Answer, Outcome};
pub use provider::{DynProvider, Handshake, Provider, Redelivery, Resigns, Spec};
pub use secret::Secret;
pub use sign::{SignedTag, Signing};
pub use source::{KeyFault, KeyQuery, KeySource};
pub use timestamp::{Arrival, Timestamp};
pub use verify::{Judged, MatchedKey, Rejection, Verified, Verifier};
pub use window::{Freshness, Window, WindowError};
pub use wire::{Grammar, Part, Wire};
