//! What a handler may take from a claimed event.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::claimed::Claimed;
use crate::data::{DataMap, MissingData};
use crate::fault::HandlerError;
use crate::headers::KeptHeaders;
use crate::hex;
use crate::identity::{Account, EventId, EventType, Signed, Unsigned};
use crate::ledger::Leased;
use crate::payload::Payload;
use crate::provider::Provider;

/// An argument of a handler for events of `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a `{P}` webhook handler",
    label = "would be available before the delivery is verified and claimed, or says nothing about it",
    note = "handlers take `Event<T>`, `RawEvent`, `Data<T>`, `EventId`, `Delivery`, `EffectKey`, `Tx<'_, C>` and one `&mut` connection"
)]
pub trait FromClaimed<P>: Sized + Send {
    /// The event types it can be taken from. `None`: from every type.
    ///
    /// A handler that takes it names no other; `#[webhook]` sees to that while it compiles.
    const ONLY: Option<&'static [&'static str]> = None;

    /// Take it.
    ///
    /// # Errors
    ///
    /// A failed attempt, for example an undecodable payload.
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError>;

    /// Check at build time that it will be there.
    ///
    /// # Errors
    ///
    /// [`MissingData`].
    fn require(_data: &DataMap) -> Result<(), MissingData> {
        Ok(())
    }
}

/// A provider whose ids and types are signed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not sign its event ids and types",
    label = "this value is not authentic",
    note = "take `Unsigned<EventId>` or `Unsigned<EventType>` and decide what it is worth"
)]
pub trait SignedIdentity: Provider {}

/// The event's payload, decoded: `T` is `Deserialize`, [`Valid`](crate::Valid), or derives `Events`.
///
/// A payload that does not decode makes the event a dead letter; it never runs half-read.
#[derive(Debug, Clone)]
pub struct Event<T>(T);

/// The event's whole JSON as stored, undecoded.
#[derive(Debug, Clone)]
pub struct RawEvent(Bytes);

/// A shared value given to the builder with `.data(value)`. Dereferences to it.
///
/// A handler's own: `actix_web::web::Data` is another type, which handlers do not take.
#[derive(Debug)]
pub struct Data<T>(Arc<T>);

/// How the event came, and how often it was tried.
#[derive(Debug, Clone)]
pub struct Delivery {
    endpoint: Arc<str>,
    provider: &'static str,
    tenant: Option<String>,
    account: Option<Account>,
    key_id: Option<String>,
    signed_at: Option<i64>,
    received_at: i64,
    attempt: u32,
    headers: KeptHeaders,
}

/// A key that is the same for every attempt of this handler on this event, replays by an operator
/// included: hand it downstream as an idempotency key. 67 characters of `A-Z a-z 0-9 _`.
///
/// A delivery that was released from quarantine is an event of its own and has a key of its own: it
/// bears the id of another event, and would else be taken downstream for what that one did already.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EffectKey(String);

impl<T> Event<T> {
    /// The payload.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl RawEvent {
    /// The JSON text.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl Deref for RawEvent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<T> Deref for Event<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Deref for Data<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for Data<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Delivery {
    /// The endpoint's stable name.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The provider's name.
    pub fn provider(&self) -> &'static str {
        self.provider
    }

    /// The tenant whose key signed it.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// The provider's account it belongs to.
    pub fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }

    /// The id of the key that verified it.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// The signed timestamp, in Unix seconds.
    pub fn signed_at(&self) -> Option<i64> {
        self.signed_at
    }

    /// When the ledger stored it, in Unix seconds of the store's clock.
    pub fn received_at(&self) -> i64 {
        self.received_at
    }

    /// Which run of the handler this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// An unsigned header that the provider keeps.
    pub fn unsigned_header(&self, name: &str) -> Option<Unsigned<&str>> {
        self.headers.get(name).map(Unsigned::new)
    }
}

impl EffectKey {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[diagnostic::do_not_recommend]
impl<P: Provider<Identity = Signed>> SignedIdentity for P {}

// What is no provider is told by `Handler`, and once.
impl<P, T: Payload<P>> FromClaimed<P> for Event<T> {
    const ONLY: Option<&'static [&'static str]> = T::ONLY;

    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        T::decode(claimed).map(Event)
    }
}

impl<P: Provider> FromClaimed<P> for RawEvent {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        Ok(Self(claimed.leased.event.payload.clone()))
    }
}

impl<P: Provider, T: Send + Sync + 'static> FromClaimed<P> for Data<T> {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        Ok(Self(claimed.data.get()?))
    }

    fn require(data: &DataMap) -> Result<(), MissingData> {
        data.get::<T>().map(drop)
    }
}

impl<P: SignedIdentity> FromClaimed<P> for EventId {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        Ok(claimed.leased.event.id.clone())
    }
}

impl<P: Provider> FromClaimed<P> for Unsigned<EventId> {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        Ok(Self::new(claimed.leased.event.id.clone()))
    }
}

impl<P: SignedIdentity> FromClaimed<P> for EventType {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        Ok(claimed.leased.event.event_type.clone())
    }
}

impl<P: Provider> FromClaimed<P> for Unsigned<EventType> {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        Ok(Self::new(claimed.leased.event.event_type.clone()))
    }
}

impl<P: Provider> FromClaimed<P> for Delivery {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        let Leased {
            event,
            failures,
            crashes,
            ..
        } = &claimed.leased;
        Ok(Self {
            endpoint: event.endpoint.clone(),
            provider: claimed.provider.spec().name(),
            tenant: event.principal.clone(),
            account: event.account.clone(),
            key_id: event.key_id.clone(),
            signed_at: event.signed_at,
            received_at: event.received_at,
            attempt: failures.saturating_add(*crashes).saturating_add(1),
            headers: event.headers.clone(),
        })
    }
}

impl<P: Provider> FromClaimed<P> for EffectKey {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        let mut hash = Sha256::new();
        hash.update(claimed.leased.event.key.as_bytes());
        hash.update(claimed.handler.name.as_bytes());
        Ok(Self(format!("wh_{}", hex::encode(&hash.finalize()))))
    }
}
