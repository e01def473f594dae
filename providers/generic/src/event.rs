//! Who an event is, by configuration.

use std::borrow::Cow;

use webhook_core::bounds::MAX_CHALLENGE_BYTES;
use webhook_core::{
    Account, ContentDigest, EventId, EventType, Handshake, Identity, InvalidEvent, Verified,
    canonical_digest,
};

use crate::places::{At, Path, Places, text};

pub(crate) fn identity(
    places: &Places,
    volatile: &[&[&str]],
    verified: &Verified<'_>,
) -> Result<Identity, InvalidEvent> {
    let body = verified.body();
    let id = match &places.id {
        At::Digest => {
            let digest = canonical_digest(body, volatile).ok_or(InvalidEvent::Body)?;
            EventId::new(&ContentDigest::from_bytes(digest).to_string())?
        }
        At::SignedHeader => verified.signed_id().ok_or(InvalidEvent::Id)?.clone(),
        place => EventId::new(&value(place, verified)?.ok_or(InvalidEvent::Id)?)?,
    };
    let event_type = value(&places.event_type, verified)?.ok_or(InvalidEvent::Type)?;
    let account = match &places.account {
        Some(place) => value(place, verified)?,
        None => None,
    };
    let account = account.map(|name| Account::new(&name)).transpose()?;
    Ok(Identity::new(id, EventType::new(&event_type)?).account(account))
}

pub(crate) fn handshake(places: &Places, body: &[u8]) -> Result<Option<Handshake>, InvalidEvent> {
    let Some(challenge) = &places.handshake else {
        return Ok(None);
    };
    if text(body, challenge.at)?.as_deref() != Some(challenge.is.as_str()) {
        return Ok(None);
    }
    let echo = text(body, challenge.echo)?.unwrap_or_default();
    let fits = (1..=MAX_CHALLENGE_BYTES).contains(&echo.len());
    if !fits || echo.chars().any(char::is_control) {
        return Err(InvalidEvent::Body);
    }
    Ok(Some(Handshake::plain(echo.into_owned())))
}

fn value<'v>(place: &At, verified: &'v Verified<'_>) -> Result<Option<Cow<'v, str>>, InvalidEvent> {
    match place {
        At::Body(paths) => first(paths, verified.body()),
        At::Fixed(text) => Ok(Some(Cow::Borrowed(text))),
        At::Header(name) => {
            let text = verified.unsigned_head().one_utf8(name);
            Ok(text.ok().map(Cow::Borrowed))
        }
        At::Digest | At::SignedHeader => Ok(None), // only ids, and those are read above
    }
}

fn first<'b>(paths: &[Path], body: &'b [u8]) -> Result<Option<Cow<'b, str>>, InvalidEvent> {
    for path in paths {
        if let Some(text) = text(body, path)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}
