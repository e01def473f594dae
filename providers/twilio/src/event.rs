//! Who a Twilio event is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use webhook_core::bounds::MAX_EVENTS_PER_DELIVERY;
use webhook_core::{
    Account, ContentDigest, EventId, EventType, Form, Identities, Identity, InvalidEvent,
    json_object,
};

use crate::content::Bodies;

/// A cloud event, as Event Streams sends them; all other members are skipped unread.
#[derive(Deserialize)]
struct CloudEvent<'b> {
    #[serde(borrow)]
    id: Cow<'b, str>,
    #[serde(borrow, rename = "type")]
    event_type: Cow<'b, str>,
}

/// A parameter's value in an event's JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Value<'f> {
    One(&'f str),
    Several(Vec<&'f str>),
}

pub(crate) fn identities(
    url: &str,
    body: &[u8],
    bodies: Bodies,
) -> Result<Identities, InvalidEvent> {
    if bodies == Bodies::Forms {
        return Ok([of_form(url, body)?].into_iter().collect());
    }
    if !body.trim_ascii_start().starts_with(b"[") {
        return Ok([of_json(url, body)?].into_iter().collect());
    }
    let items: Vec<&RawValue> = serde_json::from_slice(body).map_err(|_| InvalidEvent::Body)?;
    if items.len() > MAX_EVENTS_PER_DELIVERY {
        return Err(InvalidEvent::Count);
    }
    let events = items.into_iter().map(|item| {
        let json = item.get().as_bytes();
        let event: CloudEvent<'_> = json_object(json)?;
        let identity = Identity::new(EventId::new(&event.id)?, EventType::new(&event.event_type)?);
        Ok(identity.payload(json.to_vec().into()))
    });
    events.collect()
}

fn of_form(url: &str, body: &[u8]) -> Result<Identity, InvalidEvent> {
    // Verified: it is one.
    let form = Form::read(body).ok_or(InvalidEvent::Body)?;
    let has = |name| form.parameters().any(|(own, _)| own == name);
    let event_type = match form.get("EventType") {
        Some(named) => named,
        None if has("RecordingSid") => "recording",
        None if has("MessageStatus") => "message_status",
        None if has("MessageSid") || has("SmsSid") => "message",
        None if has("CallSid") && has("CallbackSource") => "call_status",
        None if has("CallSid") => "call",
        None => "form",
    };
    let account = has("AccountSid").then(|| {
        let sid = form.get("AccountSid").filter(|sid| is_sid(sid));
        Account::new(sid.ok_or(InvalidEvent::Account)?)
    });
    let mut members: BTreeMap<&str, Value<'_>> = BTreeMap::new();
    for (name, value) in form.parameters() {
        let several = match members.remove(name) {
            None => Value::One(value),
            Some(Value::One(first)) => Value::Several(vec![first, value]),
            Some(Value::Several(mut values)) => {
                values.push(value);
                Value::Several(values)
            }
        };
        members.insert(name, several);
    }
    let payload = serde_json::to_vec(&members).map_err(|_| InvalidEvent::Body)?;
    let id = named_by(url, &form.joined())?;
    Ok(Identity::new(id, EventType::new(event_type)?)
        .account(account.transpose()?)
        .payload(payload.into()))
}

fn of_json(url: &str, body: &[u8]) -> Result<Identity, InvalidEvent> {
    let _: &RawValue = json_object(body)?;
    // The digest of the body stands in the URL.
    Ok(Identity::new(named_by(url, "")?, EventType::new("json")?))
}

/// The digest of what is signed: wherever the border between names, values and URL is drawn, it is the same.
fn named_by(url: &str, joined: &str) -> Result<EventId, InvalidEvent> {
    let digest = ContentDigest::of(format!("{url}{joined}").as_bytes());
    EventId::new(&digest.to_string())
}

/// Of one form, so that no byte of a neighbour can pass for its own.
fn is_sid(text: &str) -> bool {
    let digits = text.strip_prefix("AC").unwrap_or_default();
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    digits.len() == 32 && digits.bytes().all(is_digit)
}
