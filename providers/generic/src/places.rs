//! Where values stand, checked; and values of a signed body.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use webhook_core::{EventType, InvalidEvent};

use crate::config::{Config, Place, Pointers};
use crate::error::ConfigError;
use crate::scheme::{header, keep};

/// Member names from the root.
pub(crate) type Path = &'static [&'static str];

/// Where an id, a type or an account stands.
#[derive(Debug, Clone)]
pub(crate) enum At {
    /// The first of these that is there.
    Body(Vec<Path>),
    Digest,
    Fixed(&'static str),
    Header(&'static str),
    SignedHeader,
}

/// Where an event says who it is.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) id: At,
    pub(crate) event_type: At,
    pub(crate) account: Option<At>,
    pub(crate) handshake: Option<Challenge>,
}

/// A handshake: what is where, and what is echoed.
#[derive(Debug, Clone)]
pub(crate) struct Challenge {
    pub(crate) at: Path,
    pub(crate) is: String,
    pub(crate) echo: Path,
}

impl Places {
    /// `signed`: ids and types must be.
    pub(crate) fn read(config: &Config, signed: bool) -> Result<Self, ConfigError> {
        let event = &config.event;
        let places = Self {
            id: at("event.id", &event.id)?,
            event_type: at("event.type", &event.event_type)?,
            account: event
                .account
                .as_ref()
                .map(|place| at("event.account", place))
                .transpose()?,
            handshake: match &config.handshake {
                None => None,
                Some(own) => Some(Challenge {
                    at: path("handshake.at", &own.at)?,
                    is: own.is.clone(),
                    echo: path("handshake.echo", &own.echo)?,
                }),
            },
        };
        let fits_id = !matches!(places.id, At::Fixed(_));
        let fits_type = !matches!(places.event_type, At::Digest | At::SignedHeader);
        let fits_account = matches!(places.account, None | Some(At::Body(_)));
        for (key, fits) in [
            ("event.id", fits_id),
            ("event.type", fits_type),
            ("event.account", fits_account),
        ] {
            if !fits {
                return Err(ConfigError::new(key, "cannot stand there"));
            }
        }
        for (key, place) in [
            ("event.id.header", &places.id),
            ("event.type.header", &places.event_type),
        ] {
            if signed && matches!(place, At::Header(_)) {
                let why = "is signed by nobody, and `Generic` promises that it is: use `Generic<Relabelable>`, \
                           whose handlers know";
                return Err(ConfigError::new(key, why));
            }
        }
        Ok(places)
    }
}

fn at(key: &str, place: &Place) -> Result<At, ConfigError> {
    let Place {
        body,
        digest,
        fixed,
        header: unsigned,
        signed_header,
    } = place;
    match (body, digest, fixed, unsigned, signed_header) {
        (Some(pointers), None, None, None, None) => {
            let pointers = match pointers {
                Pointers::One(pointer) => std::slice::from_ref(pointer),
                Pointers::Several(pointers) => pointers,
            };
            let paths: Result<Vec<_>, _> =
                pointers.iter().map(|pointer| path(key, pointer)).collect();
            let paths = paths?;
            if paths.is_empty() || paths.iter().any(|path| path.is_empty()) {
                return Err(ConfigError::new(key, "points to no member"));
            }
            Ok(At::Body(paths))
        }
        (None, Some(true), None, None, None) => Ok(At::Digest),
        (None, None, Some(text), None, None) => {
            let fault = |_| ConfigError::new(key, "is 1 to 255 bytes without control characters");
            EventType::new(text).map_err(fault)?;
            Ok(At::Fixed(keep(text)))
        }
        (None, None, None, Some(name), None) => Ok(At::Header(header(key, name)?)),
        (None, None, None, None, Some(name)) => header(key, name).map(|_| At::SignedHeader),
        _ => {
            let why = "is one of `body`, `signed_header`, `header`, `fixed` and `digest = true`";
            Err(ConfigError::new(key, why))
        }
    }
}

// Input:  `/data/a~1b`, RFC 6901
// Output: `data`, `a/b`
pub(crate) fn path(key: &str, pointer: &str) -> Result<Path, ConfigError> {
    if pointer.is_empty() {
        return Ok(&[]);
    }
    let Some(names) = pointer.strip_prefix('/') else {
        return Err(ConfigError::new(
            key,
            "is a JSON pointer, `/data/id` for example",
        ));
    };
    let names = names
        .split('/')
        .map(|name| keep(&name.replace("~1", "/").replace("~0", "~")));
    Ok(names.collect::<Vec<_>>().leak())
}

/// The text at a path of an object: a string, or a whole number in decimal. `None` if it is not there, or null.
///
/// A member on the way that stands twice is ambiguous: no event.
pub(crate) fn text(body: &[u8], path: Path) -> Result<Option<Cow<'_, str>>, InvalidEvent> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut value = str::from_utf8(body).map_err(|_| InvalidEvent::Body)?;
    for name in path {
        match member(value, name)? {
            Some(found) => value = found,
            None => return Ok(None),
        }
    }
    let value = value.trim_ascii();
    match value.as_bytes().first() {
        Some(b'"') => {
            let Text(text) = serde_json::from_str(value).map_err(|_| InvalidEvent::Body)?;
            Ok(Some(text))
        }
        Some(b'n') => Ok(None),
        _ if is_whole(value) => Ok(Some(Cow::Borrowed(value))),
        _ => Err(InvalidEvent::Body),
    }
}

fn is_whole(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A string, borrowed where it holds no escape.
#[derive(serde::Deserialize)]
struct Text<'b>(#[serde(borrow)] Cow<'b, str>);

fn member<'b>(object: &'b str, name: &str) -> Result<Option<&'b str>, InvalidEvent> {
    let mut read = serde_json::Deserializer::from_str(object);
    let found = read.deserialize_map(Member(name));
    let found = found.and_then(|found| read.end().map(|()| found));
    found.map_err(|_| InvalidEvent::Body)
}

struct Member<'n>(&'n str);

impl<'b> Visitor<'b> for Member<'_> {
    type Value = Option<&'b str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Text(name)) = map.next_key()? {
            if name != self.0 {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value: &RawValue = map.next_value()?;
            if found.replace(value.get()).is_some() {
                return Err(A::Error::custom("a member stands twice"));
            }
        }
        Ok(found)
    }
}
