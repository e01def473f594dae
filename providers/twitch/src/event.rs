//! Who a Twitch message is: named by a signed header, and of the kind that the signed body shows.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use webhook_core::bounds::MAX_CHALLENGE_BYTES;
use webhook_core::{EventType, Handshake, Identity, InvalidEvent, Verified, json_object};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Message<'b> {
    #[serde(borrow)]
    challenge: Option<Cow<'b, str>>,
    event: Option<IgnoredAny>,
    events: Option<IgnoredAny>,
    #[serde(borrow)]
    subscription: Option<Subscription<'b>>,
}

#[derive(Deserialize)]
struct Subscription<'b> {
    #[serde(borrow, default)]
    status: Cow<'b, str>,
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'b, str>,
}

pub(crate) fn identity(verified: &Verified<'_>) -> Result<Identity, InvalidEvent> {
    let message: Message<'_> = json_object(verified.body())?;
    let id = verified.signed_id().ok_or(InvalidEvent::Id)?;
    let subscription = message.subscription.ok_or(InvalidEvent::Type)?;
    let happened = message.event.is_some() || message.events.is_some();
    let event_type = match &*subscription.status {
        _ if happened => EventType::new(&subscription.kind)?,
        "" | "enabled" => return Err(InvalidEvent::Type),
        _ => EventType::new("revocation")?,
    };
    Ok(Identity::new(id.clone(), event_type))
}

pub(crate) fn handshake(body: &[u8]) -> Result<Option<Handshake>, InvalidEvent> {
    let message: Message<'_> = json_object(body)?;
    let Some(challenge) = message.challenge else {
        return Ok(None);
    };
    let fits = (1..=MAX_CHALLENGE_BYTES).contains(&challenge.len());
    if !fits || challenge.chars().any(char::is_control) {
        return Err(InvalidEvent::Body);
    }
    Ok(Some(Handshake::plain(challenge.into_owned())))
}
