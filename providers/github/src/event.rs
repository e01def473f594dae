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

/// `wanted`: of these installations only.
pub(crate) fn identities(
    wanted: Option<&[u64]>,
    verified: &Verified<'_>,
) -> Result<Identities, InvalidEvent> {
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
    let (owned, identity): (Owned, _) = if body.first().is_some_and(u8::is_ascii_alphabetic) {
        let json = form_payload(body)?.into_owned();
        (json_object(json.as_bytes())?, identity.payload(json.into()))
    } else {
        (json_object(body)?, identity)
    };
    let installation = owned.installation.as_ref().and_then(|named| named.id);
    let is_wanted = wanted.is_none_or(|wanted| installation.is_some_and(|id| wanted.contains(&id)));
    let identity = identity.account(owned.account()?);
    let identity = if is_wanted {
        identity
    } else {
        identity.outside("installation")
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

impl Owned {
    fn account(self) -> Result<Option<Account>, InvalidEvent> {
        let owner = self.repository.and_then(|repository| repository.owner);
        let id = [self.installation, self.organization, owner]
            .into_iter()
            .flatten()
            .find_map(|named| named.id);
        id.map(|id| Account::new(&id.to_string())).transpose()
    }
}

fn is_name(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}
