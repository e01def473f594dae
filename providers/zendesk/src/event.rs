//! Who a Zendesk event is.

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
    account_id: Option<u64>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let identity = Identity::new(EventId::new(&named.id)?, EventType::new(&named.event_type)?);
    let account = named.account_id.map(|id| Account::new(&id.to_string()));
    Ok(identity.account(account.transpose()?))
}
