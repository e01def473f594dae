//! Who a Dropbox event is: nobody in particular.

use serde::Deserialize;
use serde::de::IgnoredAny;
use webhook_core::{EventId, EventType, Identity, InvalidEvent, json_object};

/// The only type, and the member that shows it.
pub(crate) const LIST_FOLDER: &str = "list_folder";

#[derive(Deserialize)]
struct Named {
    list_folder: Option<IgnoredAny>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named = json_object(body)?;
    named.list_folder.ok_or(InvalidEvent::Type)?;
    Ok(Identity::new(
        EventId::unnamed(),
        EventType::new(LIST_FOLDER)?,
    ))
}
