//! An event to be sent.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

/// Largest payload of an event to be sent, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 1024 * 1024;

/// An event to be sent: bytes that every attempt signs and sends as they are.
#[derive(Clone)]
#[expect(clippy::struct_field_names, reason = "`type` alone is a keyword")]
pub struct Event {
    id: EventId,
    tenant: Arc<str>,
    event_type: Arc<str>,
    payload: Bytes,
    idempotency_key: Option<Arc<str>>,
    order_key: Option<Arc<str>>,
}

/// The id that every attempt of an event bears on the wire: 1 to 64 of `A-Z a-z 0-9 _ -`.
///
/// No dot: Standard Webhooks signs `id.timestamp.body`, and an id that may hold a dot could be read
/// as another id with another timestamp.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(Arc<str>);

/// Why an event cannot be enqueued.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEvent {
    /// The type is not 1 to 128 of `A-Z a-z 0-9 _ - .`, or has an empty part.
    #[error("event type is not 1 to 128 letters, digits, `_`, `-` and single inner dots")]
    EventType,
    /// The id is not 1 to 64 of `A-Z a-z 0-9 _ -`.
    #[error("event id is not 1 to 64 letters, digits, `_` and `-`")]
    Id,
    /// The idempotency key is empty, longer than 255 bytes or holds a control character.
    #[error("idempotency key is not 1 to 255 bytes without control characters")]
    IdempotencyKey,
    /// The order key is empty, longer than 255 bytes or holds a control character.
    #[error("order key is not 1 to 255 bytes without control characters")]
    OrderKey,
    /// The payload is larger than [`MAX_PAYLOAD_BYTES`].
    #[error("payload is larger than {MAX_PAYLOAD_BYTES} bytes")]
    Payload,
    /// The tenant is empty, longer than 255 bytes or holds a control character.
    #[error("tenant is not 1 to 255 bytes without control characters")]
    Tenant,
}

impl Event {
    /// An event of `tenant`, whose endpoints alone receive it. `payload` is sent as it is, as
    /// `application/json`. The id is new: `evt_` and a UUID of version 7.
    ///
    /// # Errors
    ///
    /// [`InvalidEvent`] for what is out of bounds.
    pub fn new(
        tenant: impl AsRef<str>,
        event_type: impl AsRef<str>,
        payload: impl Into<Bytes>,
    ) -> Result<Self, InvalidEvent> {
        let (tenant, event_type, payload) = (tenant.as_ref(), event_type.as_ref(), payload.into());
        if !is_name(tenant) {
            return Err(InvalidEvent::Tenant);
        }
        if !is_event_type(event_type) {
            return Err(InvalidEvent::EventType);
        }
        if payload.len() > MAX_PAYLOAD_BYTES {
            return Err(InvalidEvent::Payload);
        }
        Ok(Self {
            id: EventId::generate(),
            tenant: tenant.into(),
            event_type: event_type.into(),
            payload,
            idempotency_key: None,
            order_key: None,
        })
    }

    /// Bear this id instead of a new one. It must be the event's alone: receivers know events by it.
    #[must_use]
    pub fn with_id(mut self, id: EventId) -> Self {
        self.id = id;
        self
    }

    /// Enqueue this at most once for each key of its tenant, for as long as the event is kept.
    ///
    /// # Errors
    ///
    /// [`InvalidEvent::IdempotencyKey`].
    pub fn idempotency_key(mut self, key: impl AsRef<str>) -> Result<Self, InvalidEvent> {
        let key = key.as_ref();
        if !is_name(key) {
            return Err(InvalidEvent::IdempotencyKey);
        }
        self.idempotency_key = Some(key.into());
        Ok(self)
    }

    /// Reach ordered endpoints after the events of this key that were enqueued before: of two
    /// transactions of which one began after the other had committed, in that order.
    ///
    /// # Errors
    ///
    /// [`InvalidEvent::OrderKey`].
    pub fn order_key(mut self, key: impl AsRef<str>) -> Result<Self, InvalidEvent> {
        let key = key.as_ref();
        if !is_name(key) {
            return Err(InvalidEvent::OrderKey);
        }
        self.order_key = Some(key.into());
        Ok(self)
    }

    /// Its id.
    pub fn id(&self) -> &EventId {
        &self.id
    }

    /// Whose it is.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Its type.
    pub fn event_type(&self) -> &str {
        &self.event_type
    }

    /// What is sent.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// For stores: its idempotency key.
    pub fn idempotency(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// For stores: its order key.
    pub fn order(&self) -> Option<&str> {
        self.order_key.as_deref()
    }

    /// For stores: SHA-256 of type and payload, by which a repeated call is told from another event.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update((self.event_type.len() as u64).to_be_bytes());
        hash.update(self.event_type.as_bytes());
        hash.update(&self.payload);
        hash.finalize().into()
    }
}

impl EventId {
    /// An id of the application's own.
    ///
    /// # Errors
    ///
    /// [`InvalidEvent::Id`].
    pub fn new(id: impl AsRef<str>) -> Result<Self, InvalidEvent> {
        let id = id.as_ref();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if id.is_empty() || id.len() > 64 || !id.bytes().all(is_plain) {
            return Err(InvalidEvent::Id);
        }
        Ok(Self(id.into()))
    }

    /// A new id: `evt_` and a UUID of version 7.
    pub fn generate() -> Self {
        Self(format!("evt_{}", uuid::Uuid::now_v7().simple()).into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("id", &self.id)
            .field("tenant", &self.tenant)
            .field("event_type", &self.event_type)
            .field("payload_bytes", &self.payload.len())
            .finish_non_exhaustive()
    }
}

/// 1 to 255 bytes without control characters.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 255 && !text.chars().any(char::is_control)
}

/// Parts of letters, digits, `_` and `-`, joined by single dots; at most 128 bytes.
pub(super) fn is_event_type(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.len() <= 128
        && text
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_refused_by_the_part_that_is_out_of_bounds() {
        let long = "a".repeat(256);
        for (tenant, event_type, size, error) in [
            ("", "a", 0, InvalidEvent::Tenant),
            (long.as_str(), "a", 0, InvalidEvent::Tenant),
            ("a\u{0}", "a", 0, InvalidEvent::Tenant),
            ("t", "", 0, InvalidEvent::EventType),
            ("t", ".a", 0, InvalidEvent::EventType),
            ("t", "a.", 0, InvalidEvent::EventType),
            ("t", "a..b", 0, InvalidEvent::EventType),
            ("t", "a b", 0, InvalidEvent::EventType),
            ("t", "a.*", 0, InvalidEvent::EventType),
            ("t", &long[..129], 0, InvalidEvent::EventType),
            ("t", "a", MAX_PAYLOAD_BYTES + 1, InvalidEvent::Payload),
        ] {
            let event = Event::new(tenant, event_type, vec![b' '; size]);
            assert_eq!(event.err(), Some(error), "{tenant} {event_type} {size}");
        }
        let event = Event::new(&long[..255], &long[..128], vec![b' '; MAX_PAYLOAD_BYTES]).unwrap();
        assert!(event.idempotency_key(&long).is_err());
    }

    #[test]
    fn an_id_holds_no_dot() {
        for id in ["", "a.b", "a b", "é", &"a".repeat(65)] {
            assert_eq!(EventId::new(id), Err(InvalidEvent::Id), "{id}");
        }
        assert!(EventId::new("a".repeat(64)).is_ok());
        let generated = EventId::generate();
        assert_eq!(EventId::new(generated.as_str()), Ok(generated));
    }

    #[test]
    fn the_digest_tells_type_from_payload() {
        let digest = |event_type, payload: &'static str| {
            Event::new("t", event_type, payload).unwrap().digest()
        };
        assert_eq!(digest("a", "b"), digest("a", "b"));
        assert_ne!(digest("ab", "c"), digest("a", "bc"));
    }
}
