//! What `Event<T>` decodes: one form, one form for each event type, or a form and its rules.

use std::any::type_name;
use std::ops::Deref;

use serde::de::DeserializeOwned;

use crate::claimed::Claimed;
use crate::fault::HandlerError;

/// What the payload of an event of `P` is decoded into.
///
/// Implemented for whatever is [`serde::Deserialize`], for [`Valid`] of those, and by
/// `#[derive(Events)]`. One type is one of these, so an enum that derives `Events` does not derive
/// `Deserialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the payload of this event",
    label = "expected a type that is decoded from an event",
    note = "derive `serde::Deserialize` for it, or `Events` for an enum with a variant for each event type; `Valid<T>` asks `T` for `Validate`, too",
    note = "the variant for all the other types carries what a handler could take: `RawEvent`, `EventType` of a provider that signs it, `Unsigned<EventType>` of any"
)]
pub trait Payload<P>: Sized + Send {
    /// The event types it has a form for. `None` if it is of one form, whatever the type.
    const ONLY: Option<&'static [&'static str]> = None;

    /// Decode it.
    ///
    /// # Errors
    ///
    /// [`HandlerError::undecodable`], or what a field says of itself.
    fn decode(claimed: &Claimed) -> Result<Self, HandlerError>;
}

/// A payload that knows the types of its events, so that a handler of it need not name them.
///
/// `#[derive(Events)]` implements it for an enum with a variant for each type. For the payload of one
/// type write it by hand.
///
/// ```
/// use webhook_core::Events;
///
/// #[derive(serde::Deserialize)]
/// struct Push {
///     after: String,
/// }
///
/// impl Events for Push {
///     const TYPES: &'static [&'static str] = &["push"];
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which event types it is for",
    label = "expected a payload that names its event types",
    note = "write `event = \"..\"` or `events(\"..\", \"..\")` in the attribute, or take an enum with `#[derive(Events)]`"
)]
pub trait Events {
    /// The types it names.
    const TYPES: &'static [&'static str];
    /// Whether it also takes every type that no handler of the endpoint names.
    const OTHERS: bool = false;
}

/// A payload that may be authentic and well formed, and still make no sense.
///
/// Taken as `Event<Valid<T>>`. Pure: what takes a look into a database is the handler's work.
///
/// ```
/// use webhook_core::{Invalid, Validate};
///
/// struct Transfer {
///     from: String,
///     to: String,
/// }
///
/// impl Validate for Transfer {
///     fn validate(&self) -> Result<(), Invalid> {
///         if self.from == self.to {
///             return Err(Invalid("a transfer to its own account"));
///         }
///         Ok(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rules to be valid by",
    label = "expected a payload that implements `Validate`",
    note = "implement `Validate` for it, or take it as it is"
)]
pub trait Validate {
    /// Whether it makes sense.
    ///
    /// # Errors
    ///
    /// [`Invalid`]: the event becomes a dead letter with these words, and no handler sees it.
    fn validate(&self) -> Result<(), Invalid>;
}

/// Why a payload makes no sense, in words that may be stored and shown. Fixed words: the payload's
/// own are the sender's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "words, and nothing else")]
pub struct Invalid(pub &'static str);

/// A payload that was found valid. Only decoding makes one.
#[derive(Debug, Clone)]
pub struct Valid<T>(T);

impl<T> Valid<T> {
    /// The payload.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Valid<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<P, T: DeserializeOwned + Send> Payload<P> for T {
    fn decode(claimed: &Claimed) -> Result<Self, HandlerError> {
        claimed
            .decode()
            .map_err(|_| HandlerError::undecodable::<Self>())
    }
}

impl<P, T: DeserializeOwned + Validate + Send> Payload<P> for Valid<T> {
    fn decode(claimed: &Claimed) -> Result<Self, HandlerError> {
        let payload = <T as Payload<P>>::decode(claimed)?;
        match payload.validate() {
            Ok(()) => Ok(Self(payload)),
            Err(Invalid(why)) => Err(HandlerError::invalid(type_name::<T>(), why)),
        }
    }
}

impl<T: Events> Events for Valid<T> {
    const TYPES: &'static [&'static str] = T::TYPES;
    const OTHERS: bool = T::OTHERS;
}

/// Whether an argument that has a form for `only` can be taken from every event of `types`, and of
/// others besides. For `#[webhook]`, which asks while it compiles.
#[doc(hidden)]
pub const fn covers(only: Option<&[&str]>, types: &[&str], others: bool) -> bool {
    let Some(only) = only else { return true };
    let mut rest = types;
    while let Some((event_type, types)) = rest.split_first() {
        if !contains(only, event_type) {
            return false;
        }
        rest = types;
    }
    !others
}

const fn contains(types: &[&str], wanted: &str) -> bool {
    let mut rest = types;
    while let Some((event_type, types)) = rest.split_first() {
        if is_equal(event_type.as_bytes(), wanted.as_bytes()) {
            return true;
        }
        rest = types;
    }
    false
}

/// `==` of slices is not `const` yet.
const fn is_equal(mut one: &[u8], mut two: &[u8]) -> bool {
    loop {
        match (one.split_first(), two.split_first()) {
            (None, None) => return true,
            (Some((a, rest)), Some((b, others))) if *a == *b => (one, two) = (rest, others),
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_form_covers_all_and_a_list_what_it_names() {
        let list: Option<&[&str]> = Some(&["invoice.paid", "invoice.void"]);
        assert!(covers(None, &["push"], true));
        assert!(covers(list, &["invoice.void", "invoice.paid"], false));
        assert!(covers(list, &[], false));
        assert!(!covers(list, &["invoice.paid"], true));
        for other in ["invoice.pai", "invoice.paidx", "Invoice.paid", ""] {
            assert!(!covers(list, &["invoice.paid", other], false), "{other}");
        }
    }
}
