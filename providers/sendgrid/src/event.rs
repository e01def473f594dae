//! The events of a list.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use webhook_core::bounds::MAX_EVENTS_PER_DELIVERY;
use webhook_core::{EventId, EventType, Identities, Identity, InvalidEvent, Verified, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    sg_event_id: Cow<'b, str>,
    #[serde(borrow, default)]
    event: Cow<'b, str>,
}

pub(crate) fn identities(verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
    let items: Vec<&RawValue> = verified.json()?;
    if items.len() > MAX_EVENTS_PER_DELIVERY {
        return Err(InvalidEvent::Count);
    }
    items.into_iter().map(identity).collect()
}

fn identity(item: &RawValue) -> Result<Identity, InvalidEvent> {
    let json = item.get().as_bytes();
    let named: Named<'_> = json_object(json)?;
    let id = EventId::new(&named.sg_event_id)?;
    let identity = Identity::new(id, EventType::new(&named.event)?);
    Ok(identity.payload(json.to_vec().into()))
}
