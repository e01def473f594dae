//! Who a GitHub event is: named by unsigned headers, owned according to the signed body.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{
    Account, EventId, EventType, Identities, Identity, InvalidEvent, Verified, json_object,
};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Owned {
    installation: Option<Named>,
    organization: Option<Named>,
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    owner: Option<Named>,
}

#[derive(Deserialize)]
struct Named {
    id: Option<u64>,
}

pub(crate) fn identities(verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
    let head = verified.unsigned_head();
    let id = head.one("x-github-delivery").ok();
    let id = id.filter(|id| is_name(id, |byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    let event_type = head.one("x-github-event").ok();
    let event_type = event_type.filter(|name| {
        is_name(name, |byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
        })
    });
    let identity = Identity::new(
        EventId::new(id.ok_or(InvalidEvent::Id)?)?,
        EventType::new(event_type.ok_or(InvalidEvent::Type)?)?,
    );
    let body = verified.body();
    // No JSON object begins with a letter, and a form does. The content type is unsigned.
    let identity = if body.first().is_some_and(u8::is_ascii_alphabetic) {
        let json = form_payload(body)?.into_owned();
        let account = account(json.as_bytes())?;
        identity.account(account).payload(json.into())
    } else {
        identity.account(account(body)?)
    };
    Ok([identity].into_iter().collect())
}

/// The field `payload` of a form that has no other.
fn form_payload(body: &[u8]) -> Result<Cow<'_, str>, InvalidEvent> {
    let mut fields = form_urlencoded::parse(body);
    match (fields.next(), fields.next()) {
        (Some((name, json)), None) if name == "payload" => Ok(json),
        _ => Err(InvalidEvent::Body),
    }
}

fn account(json: &[u8]) -> Result<Option<Account>, InvalidEvent> {
    let Owned {
        installation,
        organization,
        repository,
    } = json_object(json)?;
    let owner = repository.and_then(|repository| repository.owner);
    let id = [installation, organization, owner]
        .into_iter()
        .flatten()
        .find_map(|named| named.id);
    id.map(|id| Account::new(&id.to_string())).transpose()
}

fn is_name(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}
