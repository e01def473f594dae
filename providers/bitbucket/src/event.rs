//! Who a Bitbucket event is: named by unsigned headers, owned according to the signed body.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, Verified, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Owned<'b> {
    #[serde(borrow)]
    repository: Option<Repository<'b>>,
}

#[derive(Deserialize)]
struct Repository<'b> {
    #[serde(borrow)]
    workspace: Option<Named<'b>>,
    #[serde(borrow)]
    owner: Option<Named<'b>>,
}

#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow)]
    uuid: Option<Cow<'b, str>>,
}

pub(crate) fn identity(verified: &Verified<'_>) -> Result<Identity, InvalidEvent> {
    let head = verified.unsigned_head();
    let id = head.one("x-request-uuid").map_err(|_| InvalidEvent::Id)?;
    let event_type = head.one("x-event-key").map_err(|_| InvalidEvent::Type)?;
    let identity = Identity::new(EventId::new(id)?, EventType::new(event_type)?);
    let Owned { repository } = json_object(verified.body())?;
    let owners = repository.map(|repository| [repository.workspace, repository.owner]);
    let mut owners = owners.into_iter().flatten().flatten();
    let account = owners
        .find_map(|owner| owner.uuid)
        .map(|uuid| Account::new(&uuid));
    Ok(identity.account(account.transpose()?))
}
