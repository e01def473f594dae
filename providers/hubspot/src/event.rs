//! The events of a list.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use webhook_core::bounds::MAX_EVENTS_PER_DELIVERY;
use webhook_core::{
    Account, ContentDigest, EventId, EventType, Identities, Identity, InvalidEvent, Verified,
    canonical_digest, json_object,
};

/// Differs between deliveries of one event.
pub(crate) const ATTEMPT: &[&str] = &["attemptNumber"];

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default, rename = "subscriptionType")]
    event_type: Cow<'b, str>,
    #[serde(rename = "portalId")]
    portal: Option<u64>,
}

pub(crate) fn identities(verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
    let items: Vec<&RawValue> = verified.json()?;
    if items.len() > MAX_EVENTS_PER_DELIVERY {
        return Err(InvalidEvent::Count);
    }
    items.into_iter().map(identity).collect()
}

fn identity(item: &RawValue) -> Result<Identity, InvalidEvent> {
    let json = item.get().as_bytes();
    let named: Named<'_> = json_object(json)?;
    let digest = canonical_digest(json, &[ATTEMPT]).ok_or(InvalidEvent::Body)?;
    let id = EventId::new(&ContentDigest::from_bytes(digest).to_string())?;
    let portal = named.portal.map(|id| Account::new(&id.to_string()));
    Ok(Identity::new(id, EventType::new(&named.event_type)?)
        .account(portal.transpose()?)
        .payload(json.to_vec().into()))
}
