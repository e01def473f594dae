//! Who a Linear event is: named by an unsigned header and by the signed body.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, Verified, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named<'b> {
    #[serde(borrow, default, rename = "type")]
    event_type: Cow<'b, str>,
    #[serde(borrow)]
    organization_id: Option<Cow<'b, str>>,
}

pub(crate) fn identity(verified: &Verified<'_>) -> Result<Identity, InvalidEvent> {
    let id = verified.unsigned_head().one("linear-delivery");
    let id = EventId::new(id.map_err(|_| InvalidEvent::Id)?)?;
    let named: Named<'_> = json_object(verified.body())?;
    let identity = Identity::new(id, EventType::new(&named.event_type)?);
    let owner = named.organization_id.map(|owner| Account::new(&owner));
    Ok(identity.account(owner.transpose()?))
}
