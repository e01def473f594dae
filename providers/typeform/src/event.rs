//! Who a Typeform event is.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{EventId, EventType, Identity, InvalidEvent, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    event_id: Cow<'b, str>,
    #[serde(borrow, default)]
    event_type: Cow<'b, str>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    Ok(Identity::new(
        EventId::new(&named.event_id)?,
        EventType::new(&named.event_type)?,
    ))
}
