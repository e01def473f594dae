//! Which event is to be sent: what `sign` and `send` have in common.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;
use serde_json::Value;
use url::Url;
use webhook_core::{Keyring, Relabelable, Signed};
use webhook_fixtures::{Delivery, Event, Sender, Setup, sender};
use webhook_generic::Generic;

use crate::client::parse_url;
use crate::fault::Fault;
use crate::moment::parse_time;
use crate::secret::SecretArgs;

/// How the name of a file ends that holds the scheme of a provider without a crate of its own.
const SCHEME_FILE: &str = ".toml";

/// An event and the moment of its signature.
#[derive(Debug, Args)]
pub(crate) struct EventArgs {
    /// The provider: `webhook events` lists them; or the file of a scheme of your own, `acme.toml`
    pub(crate) provider: String,
    /// The type of the event, for which there is a fixture or a body of your own [default: the provider's first fixture]
    event: Option<String>,
    /// Where it goes. Some providers sign it
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    pub(crate) url: Option<Url>,
    /// Send these bytes, `-` for standard input, and not the fixture's
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// The event's id [default: a fresh one]
    #[arg(long)]
    id: Option<String>,
    /// The moment of the signature: Unix seconds, RFC 3339, or a distance from now such as `-10m`
    #[arg(long, value_name = "TIME", default_value = "now", value_parser = parse_time, allow_hyphen_values = true)]
    at: i64,
    /// Change one value of the body: `/data/object/amount=2500`. JSON, or else text
    #[arg(long, value_name = "POINTER=VALUE")]
    set: Vec<String>,
    /// Add a header field, or take the place of one, after signing
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Sign with every secret given, not with the first alone, as senders do while a key is rotated
    #[arg(long)]
    every_key: bool,
    #[command(flatten)]
    secrets: SecretArgs,
}

/// An event that can be signed as often as one likes.
pub(crate) struct Prepared {
    pub(crate) event: Event,
    keys: Keyring,
    at: i64,
    every_key: bool,
    headers: Vec<(String, String)>,
}

impl EventArgs {
    /// Read everything that is named.
    ///
    /// # Errors
    ///
    /// [`Fault::Usage`].
    pub(crate) fn prepare(&self) -> Result<Prepared, Fault> {
        let sender = find(&self.provider, self.url.as_ref())?;
        let keys = self.secrets.read()?;
        let keys = keys.must_keyring(sender.provider().spec().secret())?;
        keys.ensure_signs()
            .map_err(|error| Fault::usage(error.to_string()))?;
        let headers = self.header.iter().map(|field| split_header(field));
        Ok(Prepared {
            event: self.event(&sender)?,
            keys,
            at: self.at,
            every_key: self.every_key,
            headers: headers.collect::<Result<_, _>>()?,
        })
    }

    fn event(&self, sender: &Sender) -> Result<Event, Fault> {
        let usage = |error: &dyn std::error::Error| Fault::usage(error.to_string());
        let mut event = match &self.body {
            Some(path) => {
                let body = read_bytes(path)?;
                let default = sender.events().next().unwrap_or_default();
                sender.custom(self.event.as_deref().unwrap_or(default), body)
            }
            None => sender.fixture(self.event.as_deref()).map_err(|error| {
                Fault::usage(format!("{error}; with --body any type can be sent"))
            })?,
        };
        for set in &self.set {
            let (pointer, value) = set
                .split_once('=')
                .ok_or_else(|| Fault::usage("--set takes `/pointer=value`"))?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            event = event
                .try_set(pointer, value)
                .map_err(|error| usage(&error))?;
        }
        if let Some(id) = &self.id {
            event = event.try_id(id).map_err(|error| usage(&error))?;
        }
        Ok(event)
    }

    /// The same options, another event: a fresh id, unless one is given.
    pub(crate) fn another(&self, prepared: &Prepared) -> Result<Event, Fault> {
        self.event(prepared.event.sender())
    }
}

impl Prepared {
    /// Sign the event.
    pub(crate) fn delivery(&self) -> Delivery {
        self.sign(&self.event)
    }

    /// Sign another one in the same way.
    pub(crate) fn sign(&self, event: &Event) -> Delivery {
        let mut delivery = if self.every_key {
            event.signed_by_every_key(&self.keys, self.at)
        } else {
            event.signed(&self.keys, self.at)
        };
        for (name, value) in &self.headers {
            delivery = delivery.with(name, value.as_bytes());
        }
        delivery
    }
}

/// The provider of this name, or of the scheme in this file, sending to `url`.
///
/// # Errors
///
/// [`Fault::Usage`], which lists the names, or says what is wrong in the file.
pub(crate) fn find(name: &str, url: Option<&Url>) -> Result<Sender, Fault> {
    let mut setup = url.map_or_else(Setup::default, |url| Setup::at(url.as_str()));
    let mut known = name;
    if name.ends_with(SCHEME_FILE) {
        let wrong = |why: &dyn std::fmt::Display| Fault::usage(format!("{name}: {why}"));
        let text = fs::read_to_string(name).map_err(|error| wrong(&error))?;
        // Whose ids and types are not signed is read as such alone.
        setup = match Generic::<Signed>::from_toml(&text) {
            Ok(scheme) => setup.scheme(scheme),
            Err(error) => {
                let other = Generic::<Relabelable>::from_toml(&text);
                setup.scheme(other.map_err(|_| wrong(&error))?)
            }
        };
        known = "generic";
    }
    sender(known, &setup).map_err(|error| Fault::usage(error.to_string()))
}

/// `Name: value`.
///
/// # Errors
///
/// [`Fault::Usage`] without a colon.
pub(crate) fn split_header(field: &str) -> Result<(String, String), Fault> {
    let (name, value) = field
        .split_once(':')
        .ok_or_else(|| Fault::usage("a header field is `Name: value`"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// A file's bytes, or standard input's.
///
/// # Errors
///
/// [`Fault::Usage`] if it cannot be read.
pub(crate) fn read_bytes(path: &Path) -> Result<Bytes, Fault> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        fs::File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map(drop)
    };
    read.map_err(|error| Fault::usage(format!("{}: {error}", path.display())))?;
    Ok(bytes.into())
}
