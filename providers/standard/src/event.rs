//! Who an event is: named by a signed header and by the body.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{EventType, Identity, InvalidEvent, Verified, json_object};

/// The member read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default, rename = "type")]
    event_type: Cow<'b, str>,
}

pub(crate) fn identity(verified: &Verified<'_>) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(verified.body())?;
    let id = verified.signed_id().ok_or(InvalidEvent::Id)?;
    Ok(Identity::new(
        id.clone(),
        EventType::new(&named.event_type)?,
    ))
}
