//! Who an Intercom notification is.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    id: Cow<'b, str>,
    #[serde(borrow, default)]
    topic: Cow<'b, str>,
    #[serde(borrow)]
    app_id: Option<Cow<'b, str>>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let id = EventId::new(&named.id)?;
    let identity = Identity::new(id, EventType::new(&named.topic)?);
    let app = named.app_id.map(|id| Account::new(&id));
    Ok(identity.account(app.transpose()?))
}
