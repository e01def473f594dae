//! Who a Square event is.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    event_id: Cow<'b, str>,
    #[serde(borrow, default, rename = "type")]
    event_type: Cow<'b, str>,
    #[serde(borrow)]
    merchant_id: Option<Cow<'b, str>>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let id = EventId::new(&named.event_id)?;
    let identity = Identity::new(id, EventType::new(&named.event_type)?);
    let merchant = named.merchant_id.map(|id| Account::new(&id));
    Ok(identity.account(merchant.transpose()?))
}
