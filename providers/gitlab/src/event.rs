//! Who a GitLab event is: named by a header and by the body.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, json_object};

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

pub(crate) fn identity(id: EventId, body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let event_type = named.object_kind.or(named.event_name);
    let event_type = EventType::new(&event_type.ok_or(InvalidEvent::Type)?)?;
    let project = named.project.and_then(|project| project.id);
    let account = project.map(|id| Account::new(&id.to_string()));
    Ok(Identity::new(id, event_type).account(account.transpose()?))
}
