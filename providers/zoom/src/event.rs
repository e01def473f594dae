//! Who a Zoom event is: known by what it says, and the handshake that asks for a proof.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{
    Account, ContentDigest, EventId, EventType, Handshake, Identity, InvalidEvent, Verified,
    canonical_digest, json_object,
};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    event: Cow<'b, str>,
    #[serde(borrow)]
    payload: Option<Payload<'b>>,
}

#[derive(Deserialize)]
struct Payload<'b> {
    #[serde(borrow)]
    account_id: Option<Cow<'b, str>>,
    #[serde(borrow, rename = "plainToken")]
    plain_token: Option<Cow<'b, str>>,
}

pub(crate) fn identity(body: &[u8]) -> Result<Identity, InvalidEvent> {
    let named: Named<'_> = json_object(body)?;
    let event_type = EventType::new(&named.event)?;
    let account = named.payload.and_then(|payload| payload.account_id);
    let account = account.map(|id| Account::new(&id)).transpose()?;
    let digest = canonical_digest(body, &[]).ok_or(InvalidEvent::Body)?;
    let id = EventId::new(&ContentDigest::from_bytes(digest).to_string())?;
    Ok(Identity::new(id, event_type).account(account))
}

pub(crate) fn handshake(verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent> {
    let named: Named<'_> = json_object(verified.body())?;
    if named.event != "endpoint.url_validation" {
        return Ok(None);
    }
    let token = named.payload.and_then(|payload| payload.plain_token);
    let token = token.ok_or(InvalidEvent::Body)?;
    let proof = verified.proof(&token).ok_or(InvalidEvent::Body)?.to_hex();
    // Neither holds a character that JSON escapes.
    let answer = format!(r#"{{"plainToken":"{token}","encryptedToken":"{proof}"}}"#);
    Ok(Some(Handshake::json(answer)))
}
