//! Who a WorkOS event is.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    id: Cow<'b, str>,
    #[serde(borrow, default)]
    event: Cow<'b, str>,
    #[serde(borrow)]
    data: Option<Owned<'b>>,
}

#[derive(Deserialize)]
struct Owned<'b> {
    #[serde(borrow)]
    organization_id: Option<Cow<'b, str>>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let identity = Identity::new(EventId::new(&named.id)?, EventType::new(&named.event)?);
    let owner = named.data.and_then(|data| data.organization_id);
    Ok(identity.account(owner.map(|id| Account::new(&id)).transpose()?))
}
