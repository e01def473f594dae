//! Who a Calendly event is: derived from what it is about.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{EventId, EventType, Identity, InvalidEvent, json_object};

/// What happens to a resource once.
const ONCE: [&str; 3] = [
    "invitee.canceled",
    "invitee.created",
    "routing_form_submission.created",
];

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    event: Cow<'b, str>,
    #[serde(borrow)]
    payload: Resource<'b>,
}

#[derive(Deserialize)]
struct Resource<'b> {
    #[serde(borrow)]
    uri: Option<Cow<'b, str>>,
    #[serde(borrow)]
    updated_at: Option<Cow<'b, str>>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let Named { event, payload } = json_object(body)?;
    let event_type = EventType::new(&event)?;
    let uri = part(payload.uri)?;
    let id = if ONCE.contains(&&*event) {
        format!("{event} {uri}")
    } else {
        format!("{event} {uri} {}", part(payload.updated_at)?)
    };
    Ok(Identity::new(EventId::new(&id)?, event_type))
}

/// A part of an id: there, and without the space that ends it.
fn part(text: Option<Cow<'_, str>>) -> Result<Cow<'_, str>, InvalidEvent> {
    text.filter(|text| !text.is_empty() && !text.contains(' '))
        .ok_or(InvalidEvent::Id)
}
