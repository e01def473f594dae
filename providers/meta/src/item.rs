//! One item of a batch as an event: its name, and a payload that does not depend on what came beside it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use webhook_core::bounds::MAX_EVENTS_PER_DELIVERY;
use webhook_core::{
    Account, ContentDigest, EventId, EventType, Identities, Identity, InvalidEvent,
    canonical_digest, json_object,
};

/// What an item says by where it stands.
pub(crate) struct Origin<'b> {
    pub(crate) object: &'b str,
    pub(crate) id: &'b str,
    pub(crate) time: Option<&'b RawValue>,
}

/// A change's value, by members. A name that comes twice is refused below, by `json_object`.
type Members<'b> = BTreeMap<Cow<'b, str>, &'b RawValue>;

/// An event's JSON.
#[derive(Serialize)]
struct Event<'b, V> {
    object: &'b str,
    entry: Entry<'b>,
    field: &'b str,
    value: V,
}

#[derive(Serialize)]
struct Entry<'b> {
    id: &'b str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<&'b RawValue>,
}

/// A change's value with one message or status alone.
#[derive(Serialize)]
struct Alone<'b> {
    #[serde(flatten)]
    shared: &'b Members<'b>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contacts: Vec<&'b RawValue>,
    #[serde(flatten)]
    item: BTreeMap<&'static str, [&'b RawValue; 1]>,
}

#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow)]
    id: Cow<'b, str>,
    #[serde(borrow)]
    status: Option<Cow<'b, str>>,
    #[serde(borrow)]
    from: Option<Cow<'b, str>>,
    #[serde(borrow)]
    recipient_id: Option<Cow<'b, str>>,
}

#[derive(Deserialize)]
struct Contact<'b> {
    #[serde(borrow)]
    wa_id: Option<Cow<'b, str>>,
}

#[derive(Deserialize)]
struct Messaging<'b> {
    #[serde(borrow)]
    message: Option<Message<'b>>,
    #[serde(borrow)]
    postback: Option<Message<'b>>,
}

#[derive(Deserialize)]
struct Message<'b> {
    #[serde(borrow)]
    mid: Option<Cow<'b, str>>,
    /// Instagram: it was unsent. The id is still the message's.
    #[serde(default)]
    is_deleted: bool,
}

/// Most bytes that the events of one change may repeat of what they share.
const MAX_SHARED_BYTES: usize = 8 * 1024 * 1024;
/// Members of a `messaging` item that say whom it is about, not what happened.
const CIRCUMSTANCES: [&str; 4] = ["recipient", "sender", "timestamp", "is_standby"];

/// The events of a change: one for each message and status, or it is one itself.
pub(crate) fn of_change(
    origin: &Origin<'_>,
    field: &str,
    value: Option<&RawValue>,
    found: &mut Identities,
) -> Result<(), InvalidEvent> {
    let members = value.filter(|value| value.get().starts_with('{'));
    let mut shared: Members<'_> = match members {
        Some(value) => json_object(value.get().as_bytes())?,
        None => Members::new(),
    };
    let messages = items(&mut shared, "messages")?;
    let statuses = items(&mut shared, "statuses")?;
    if messages.is_empty() && statuses.is_empty() {
        let payload = origin.event(field, value)?;
        let id = digest(&payload, &[])?;
        found.push(origin.identity(&id, field, payload)?);
        return Ok(());
    }
    let mut contacts: BTreeMap<Cow<'_, str>, &RawValue> = BTreeMap::new();
    for contact in items(&mut shared, "contacts")? {
        let about: Contact<'_> = json_object(contact.get().as_bytes())?;
        if let Some(id) = about.wa_id {
            contacts.insert(id, contact);
        }
    }
    let count = messages.len().saturating_add(statuses.len());
    let bytes = shared.iter().fold(0usize, |sum, (name, value)| {
        sum.saturating_add(name.len())
            .saturating_add(value.get().len())
    });
    if count > MAX_EVENTS_PER_DELIVERY || bytes.saturating_mul(count) > MAX_SHARED_BYTES {
        return Err(InvalidEvent::Count);
    }
    let both = [("messages", messages), ("statuses", statuses)];
    for (kind, items) in both {
        for item in items {
            let named: Named<'_> = json_object(item.get().as_bytes())?;
            let id = match (kind, named.status) {
                ("messages", _) => named.id,
                (_, Some(status)) => format!("{}:{status}", named.id).into(),
                (_, None) => return Err(InvalidEvent::Id),
            };
            let party = named.from.or(named.recipient_id);
            let alone = Alone {
                shared: &shared,
                contacts: party
                    .and_then(|party| contacts.get(&party).copied())
                    .into_iter()
                    .collect(),
                item: BTreeMap::from([(kind, [item])]),
            };
            let payload = origin.event(field, alone)?;
            found.push(origin.identity(&id, kind, payload)?);
        }
    }
    Ok(())
}

/// The event of a `messaging` item, named after the member that says what happened.
pub(crate) fn of_messaging(
    origin: &Origin<'_>,
    field: &str,
    item: &RawValue,
) -> Result<Identity, InvalidEvent> {
    let json = item.get().as_bytes();
    let members: Members<'_> = json_object(json)?;
    let mut kinds = members.keys().map(|name| &**name);
    let kind = kinds.find(|name| !CIRCUMSTANCES.contains(name));
    let payload = origin.event(field, item)?;
    let named: Messaging<'_> = json_object(json)?;
    let message = named.message.or(named.postback);
    let id = match message.and_then(Message::id) {
        Some(id) => id,
        // The item bears its own time, and the batch it comes in may be another on a retry.
        None => digest(&payload, &[&["entry", "time"]])?,
    };
    origin.identity(&id, kind.ok_or(InvalidEvent::Type)?, payload)
}

impl Message<'_> {
    /// Sending and unsending are two events.
    fn id(self) -> Option<String> {
        let id = self.mid?.into_owned();
        Some(if self.is_deleted {
            format!("{id}:deleted")
        } else {
            id
        })
    }
}

impl Origin<'_> {
    fn event(&self, field: &str, value: impl Serialize) -> Result<Vec<u8>, InvalidEvent> {
        let event = Event {
            object: self.object,
            entry: Entry {
                id: self.id,
                time: self.time,
            },
            field,
            value,
        };
        serde_json::to_vec(&event).map_err(|_| InvalidEvent::Body)
    }

    fn identity(&self, id: &str, kind: &str, payload: Vec<u8>) -> Result<Identity, InvalidEvent> {
        let identity = Identity::new(EventId::new(id)?, EventType::new(kind)?);
        let account = Account::new(self.id)?;
        Ok(identity.account(Some(account)).payload(payload.into()))
    }
}

/// Take the list `name` out of `members`; empty where there is none.
fn items<'b>(members: &mut Members<'b>, name: &str) -> Result<Vec<&'b RawValue>, InvalidEvent> {
    members.remove(name).map_or(Ok(Vec::new()), |list| {
        serde_json::from_str(list.get()).map_err(|_| InvalidEvent::Body)
    })
}

fn digest(payload: &[u8], volatile: &[&[&str]]) -> Result<String, InvalidEvent> {
    let digest = canonical_digest(payload, volatile).ok_or(InvalidEvent::Body)?;
    Ok(ContentDigest::from_bytes(digest).to_string())
}
