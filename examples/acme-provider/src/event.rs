//! Who an Acme event is.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    id: Cow<'b, str>,
    #[serde(borrow, default, rename = "type")]
    event_type: Cow<'b, str>,
    #[serde(borrow)]
    shop: Option<Cow<'b, str>>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let account = named.shop.map(|shop| Account::new(&shop)).transpose()?;
    let identity = Identity::new(EventId::new(&named.id)?, EventType::new(&named.event_type)?);
    Ok(identity.account(account))
}
