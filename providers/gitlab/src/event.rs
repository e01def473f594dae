//! Who a GitLab event is: named by a signed header and by the body.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventType, Identity, InvalidEvent, Verified, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow)]
    object_kind: Option<Cow<'b, str>>,
    #[serde(borrow)]
    event_name: Option<Cow<'b, str>>,
    project: Option<Project>,
}

#[derive(Deserialize)]
struct Project {
    id: Option<u64>,
}

pub(crate) fn identity(verified: &Verified<'_>) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(verified.body())?;
    let id = verified.signed_id().ok_or(InvalidEvent::Id)?;
    let event_type = named.object_kind.or(named.event_name);
    let event_type = EventType::new(&event_type.ok_or(InvalidEvent::Type)?)?;
    let project = named.project.and_then(|project| project.id);
    let account = project.map(|id| Account::new(&id.to_string()));
    Ok(Identity::new(id.clone(), event_type).account(account.transpose()?))
}
