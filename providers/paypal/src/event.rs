//! Who a PayPal event is: named by the signed transmission, described under a checksum.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{EventId, EventType, Identity, InvalidEvent, json_object};

/// The member read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    event_type: Cow<'b, str>,
}

pub(crate) fn identity(id: EventId, body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    Ok(Identity::new(id, EventType::new(&named.event_type)?))
}
