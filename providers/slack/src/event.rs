//! Who a Slack event is, in JSON, in a slash command's form or in the `payload` of an interaction.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use webhook_core::bounds::MAX_CHALLENGE_BYTES;
use webhook_core::{Account, EventId, EventType, Handshake, Identity, InvalidEvent, json_object};

/// A form, decoded. In order of names, so that equal forms become equal JSON.
type Fields<'b> = BTreeMap<Cow<'b, str>, Cow<'b, str>>;

/// The members read of a JSON body; all others are skipped unread.
#[derive(Deserialize)]
struct Callback<'b> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'b, str>,
    #[serde(borrow, default)]
    event_id: Cow<'b, str>,
    event: Option<Typed<'b>>,
    team_id: Option<Cow<'b, str>>,
    enterprise_id: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    api_app_id: Cow<'b, str>,
    minute_rate_limited: Option<u64>,
    challenge: Option<Cow<'b, str>>,
}

#[derive(Deserialize)]
struct Typed<'b> {
    #[serde(borrow, default, rename = "type")]
    event_type: Cow<'b, str>,
}

/// The members read of an interaction.
#[derive(Deserialize)]
struct Interaction<'b> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'b, str>,
    trigger_id: Option<Cow<'b, str>>,
    team: Option<Named<'b>>,
    enterprise: Option<Named<'b>>,
    view: Option<Named<'b>>,
}

#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    id: Cow<'b, str>,
}

/// Where an event happened.
struct Origin<'b> {
    team: Option<Cow<'b, str>>,
    enterprise: Option<Cow<'b, str>>,
}

/// `wanted`: of these workspaces and organisations only.
pub(crate) fn identity(wanted: Option<&[String]>, body: &[u8]) -> Result<Identity, InvalidEvent> {
    if !is_form(body) {
        return callback(wanted, body);
    }
    let mut fields = fields(body)?;
    match fields.remove("payload") {
        Some(json) if fields.is_empty() => interaction(wanted, &json),
        None if fields.contains_key("command") => command(wanted, &fields),
        _ => Err(InvalidEvent::Body),
    }
}

pub(crate) fn handshake(body: &[u8]) -> Result<Option<Handshake>, InvalidEvent> {
    if is_form(body) {
        let is_check = fields(body)?.contains_key("ssl_check");
        return Ok(is_check.then(|| Handshake::plain("")));
    }
    let callback: Callback<'_> = json_object(body)?;
    if callback.kind != "url_verification" {
        return Ok(None);
    }
    let challenge = callback.challenge.unwrap_or_default();
    let fits = (1..=MAX_CHALLENGE_BYTES).contains(&challenge.len());
    if !fits || challenge.chars().any(char::is_control) {
        return Err(InvalidEvent::Body);
    }
    Ok(Some(Handshake::plain(challenge.into_owned())))
}

fn callback(wanted: Option<&[String]>, body: &[u8]) -> Result<Identity, InvalidEvent> {
    let callback: Callback<'_> = json_object(body)?;
    let origin = Origin {
        team: callback.team_id,
        enterprise: callback.enterprise_id,
    };
    if callback.kind == "app_rate_limited" {
        let minute = callback.minute_rate_limited.ok_or(InvalidEvent::Id)?;
        let id = format!("{}:{}:{minute}", callback.kind, callback.api_app_id);
        let identity = Identity::new(EventId::new(&id)?, EventType::new(&callback.kind)?);
        let whole: &RawValue = json_object(body)?;
        return origin.of(identity.payload(under_event(whole)?.into()), wanted);
    }
    let id = EventId::new(&callback.event_id)?;
    let event = callback.event.ok_or(InvalidEvent::Type)?;
    origin.of(
        Identity::new(id, EventType::new(&event.event_type)?),
        wanted,
    )
}

fn command(wanted: Option<&[String]>, fields: &Fields<'_>) -> Result<Identity, InvalidEvent> {
    let field = |name| fields.get(name).cloned();
    let id = field("trigger_id").unwrap_or_default();
    let identity = Identity::new(EventId::new(&id)?, EventType::new("slash_command")?);
    let origin = Origin {
        team: field("team_id"),
        enterprise: field("enterprise_id"),
    };
    origin.of(identity.payload(under_event(fields)?.into()), wanted)
}

fn interaction(wanted: Option<&[String]>, json: &str) -> Result<Identity, InvalidEvent> {
    let interaction: Interaction<'_> = json_object(json.as_bytes())?;
    let id = match (interaction.trigger_id, interaction.view) {
        (Some(id), _) => id,
        (None, Some(view)) if interaction.kind == "view_closed" => view.id,
        _ => return Err(InvalidEvent::Id),
    };
    let [team, enterprise] =
        [interaction.team, interaction.enterprise].map(|named| named.map(|named| named.id));
    let whole: &RawValue = json_object(json.as_bytes())?;
    let identity = Identity::new(EventId::new(&id)?, EventType::new(&interaction.kind)?);
    let origin = Origin { team, enterprise };
    origin.of(identity.payload(under_event(whole)?.into()), wanted)
}

impl Origin<'_> {
    /// Put it into `identity`: the account, and whether that is wanted.
    fn of(self, identity: Identity, wanted: Option<&[String]>) -> Result<Identity, InvalidEvent> {
        let given = [&self.team, &self.enterprise].into_iter().flatten();
        let mut given = given.filter(|name| !name.is_empty());
        let is_wanted = |wanted: &[String]| {
            let mut given = given.clone();
            given.any(|name| wanted.iter().any(|one| *one == **name))
        };
        let is_wanted = wanted.is_none_or(is_wanted);
        let identity = identity.account(given.next().map(|name| Account::new(name)).transpose()?);
        Ok(if is_wanted {
            identity
        } else {
            identity.outside("workspace")
        })
    }
}

/// The matter where `payload_at` looks for it.
fn under_event(event: impl Serialize) -> Result<Vec<u8>, InvalidEvent> {
    #[derive(Serialize)]
    struct Wrapped<T> {
        event: T,
    }
    let json = serde_json::to_vec(&Wrapped { event });
    json.map_err(|_| InvalidEvent::Body)
}

/// A form that names no field twice.
fn fields(body: &[u8]) -> Result<Fields<'_>, InvalidEvent> {
    let mut fields = Fields::new();
    for (name, value) in form_urlencoded::parse(body) {
        if fields.insert(name, value).is_some() {
            return Err(InvalidEvent::Body);
        }
    }
    Ok(fields)
}

/// No JSON object begins with a letter, and a form does. Not by the content type, which is unsigned.
fn is_form(body: &[u8]) -> bool {
    body.first().is_some_and(u8::is_ascii_alphabetic)
}
