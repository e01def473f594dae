//! Who an interaction or an event is, and the PINGs of both.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{
    Account, ContentDigest, EventId, EventType, Handshake, Identity, InvalidEvent,
    canonical_digest, json_object,
};

/// What an endpoint is registered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    Events,
    Interactions,
}

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    id: Cow<'b, str>,
    #[serde(rename = "type")]
    kind: Option<u32>,
    #[serde(borrow)]
    application_id: Option<Cow<'b, str>>,
    #[serde(borrow)]
    event: Option<Event<'b>>,
}

#[derive(Deserialize)]
struct Event<'b> {
    #[serde(borrow, default, rename = "type")]
    event_type: Cow<'b, str>,
}

/// What `type` says: of interactions, all else is an interaction.
const INTERACTION_PING: u32 = 1;
const EVENT_PING: u32 = 0;
const EVENT: u32 = 1;

pub(crate) fn identity(product: Product, body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let identity = match (product, named.kind, named.event) {
        (Product::Interactions, Some(kind), None) if kind > INTERACTION_PING => {
            Identity::new(EventId::new(&named.id)?, EventType::new(&kind.to_string())?)
        }
        (Product::Events, Some(EVENT), Some(event)) => {
            let digest = canonical_digest(body, &[]).ok_or(InvalidEvent::Body)?;
            let id = EventId::new(&ContentDigest::from_bytes(digest).to_string())?;
            Identity::new(id, EventType::new(&event.event_type)?)
        }
        _ => return Err(InvalidEvent::Type),
    };
    let account = named.application_id.map(|id| Account::new(&id));
    Ok(identity.account(account.transpose()?))
}

pub(crate) fn handshake(product: Product, body: &[u8]) -> Result<Option<Handshake>, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    Ok(match (product, named.kind, named.event) {
        (Product::Interactions, Some(INTERACTION_PING), None) => {
            Some(Handshake::json(r#"{"type":1}"#))
        }
        (Product::Events, Some(EVENT_PING), None) => Some(Handshake::no_content()),
        _ => None,
    })
}
