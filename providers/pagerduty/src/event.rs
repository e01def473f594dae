//! Who a PagerDuty event is.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{EventId, EventType, Identity, InvalidEvent, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Delivered<'b> {
    #[serde(borrow)]
    event: Named<'b>,
}

#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    id: Cow<'b, str>,
    #[serde(borrow, default)]
    event_type: Cow<'b, str>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let Delivered { event } = json_object(body)?;
    Ok(Identity::new(
        EventId::new(&event.id)?,
        EventType::new(&event.event_type)?,
    ))
}
