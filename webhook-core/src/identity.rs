//! Who an event is: id, type and account, read from authentic bytes only.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::bounds::MAX_ID_BYTES;

/// Why authentic bytes are no event. Answered 400: sending them again will not help.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEvent {
    /// The account in the body is not the tenant whose key signed it.
    #[error("event names another account than its key's")]
    Account,
    /// The body is not of the provider's form.
    #[error("body is not a valid event")]
    Body,
    /// No event id, or one outside its grammar.
    #[error("event id is missing or malformed")]
    Id,
    /// More than [`crate::bounds::MAX_EVENTS_PER_DELIVERY`] events, or none.
    #[error("number of events is out of bounds")]
    Count,
    /// No event type, or one outside its grammar.
    #[error("event type is missing or malformed")]
    Type,
}

/// The provider's id of an event: 1 to 255 bytes of UTF-8 without control characters.
///
/// Compared byte for byte: no case folding, no trimming, no Unicode normalisation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(Arc<str>);

/// The provider's type of an event, for example `invoice.paid`. Same grammar as [`EventId`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventType(Arc<str>);

/// The provider's account an event belongs to. Same grammar as [`EventId`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Account(Arc<str>);

/// A value that travelled beside the signature, not under it: whoever captured one request
/// can present it again with another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsigned<T>(T);

/// One event of a delivery.
#[derive(Debug, Clone)]
pub struct Identity {
    pub(crate) id: EventId,
    pub(crate) event_type: EventType,
    pub(crate) account: Option<Account>,
    pub(crate) payload: Option<Bytes>,
    pub(crate) outside: Option<&'static str>,
}

/// The events of a delivery, in order. Almost always one.
pub type Identities = SmallVec<[Identity; 1]>;

/// Whether a provider's event ids and types are under the signature.
pub trait IdentityKind: sealed::Sealed + fmt::Debug + Send + Sync + 'static {
    /// They are.
    const SIGNED: bool;
}

/// Ids and types are read from signed bytes.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a type-level mark")]
pub struct Signed;

/// Ids or types stand in unsigned headers: a captured request can be relabelled. Such a provider's
/// deliveries also claim the digest of what *is* signed.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a type-level mark")]
pub struct Relabelable;

macro_rules! name {
    ($name:ident, $fault:ident) => {
        impl $name {
            /// Check the grammar.
            ///
            /// # Errors
            ///
            #[doc = concat!("[`InvalidEvent::", stringify!($fault), "`].")]
            pub fn new(text: &str) -> Result<Self, InvalidEvent> {
                let fits = (1..=MAX_ID_BYTES).contains(&text.len());
                if !fits || text.chars().any(char::is_control) {
                    return Err(InvalidEvent::$fault);
                }
                Ok(Self(text.into()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(EventId, Id);
name!(EventType, Type);
name!(Account, Account);

impl EventId {
    /// An id of our own, another one each time, for an event that its sender neither names nor tells apart from an earlier
    /// one of the same content. Where the content cannot repeat, its digest is the better name.
    ///
    /// Every delivery is then an event, a retry and a captured request among them: only for a provider that is
    /// [`Relabelable`] and declares such types with
    /// [`Spec::repeats_legitimately`](crate::Spec::repeats_legitimately), so that its endpoints decide aloud.
    pub fn unnamed() -> Self {
        Self(format!("unnamed_{}", uuid::Uuid::now_v7().simple()).into())
    }
}

impl<T> Unsigned<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }

    /// Use it as if it were authentic.
    pub fn dangerous_trust(self) -> T {
        self.0
    }
}

impl Identity {
    /// An event whose payload is the whole body.
    pub fn new(id: EventId, event_type: EventType) -> Self {
        Self {
            id,
            event_type,
            account: None,
            payload: None,
            outside: None,
        }
    }

    /// The account it belongs to.
    #[must_use]
    pub fn account(mut self, account: Option<Account>) -> Self {
        self.account = account;
        self
    }

    /// The event's own JSON, where it is not the whole body: an item of a batch, a form field.
    #[must_use]
    pub fn payload(mut self, json: Bytes) -> Self {
        self.payload = Some(json);
        self
    }

    /// The event is authentic but not for this endpoint, for example of the other Stripe mode:
    /// acknowledged, counted under `why`, not run.
    #[must_use]
    pub fn outside(mut self, why: &'static str) -> Self {
        self.outside = Some(why);
        self
    }

    /// The id.
    pub fn id(&self) -> &EventId {
        &self.id
    }

    /// The type.
    pub fn event_type(&self) -> &EventType {
        &self.event_type
    }

    /// Why it is not for this endpoint, if it is not.
    pub fn is_outside(&self) -> Option<&'static str> {
        self.outside
    }
}

impl IdentityKind for Signed {
    const SIGNED: bool = true;
}

impl IdentityKind for Relabelable {
    const SIGNED: bool = false;
}

#[expect(
    unnameable_types,
    reason = "being unnameable is what seals `IdentityKind`"
)]
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Signed {}
    impl Sealed for super::Relabelable {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_bounded_and_printable() {
        for good in ["evt_1", "a b ", "ünï", &"x".repeat(255)] {
            assert_eq!(EventId::new(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            "\0",
            "a\nb",
            "a\u{7f}",
            "a\u{85}",
            &"x".repeat(256),
            &"é".repeat(128),
        ] {
            assert_eq!(EventId::new(bad), Err(InvalidEvent::Id));
        }
    }
}
