//! Vector files, and the judgement of each case in them.

use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use webhook_core::{
    DynProvider, EventId, KeyConfig, Keyring, KeyringError, Rejection, SecretFormat, Signing,
    Window,
};

use crate::receiver::{Received, Receiver, Request, TARGET};
use crate::signature;

/// Judge every case of a vector file. Returns how many there are, for the test to compare.
///
/// Each body arrives at once, byte by byte, and in pieces of seven bytes. Of an authentic case also the identity,
/// the answer to its handshake and the signed bytes are compared where the file names them.
///
/// # Panics
///
/// If a case comes out differently; the message lists all that do.
pub fn run(provider: &dyn DynProvider, json: &str) -> usize {
    run_each(json, |_| provider)
}

/// As [`run`], of a provider that is told the URL of each case: for schemes that sign it.
///
/// # Panics
///
/// As [`run`].
pub fn run_each<'p>(json: &str, provider_at: impl Fn(&str) -> &'p dyn DynProvider) -> usize {
    let vectors: Vec<Vector> = serde_json::from_str(json).expect("a vector file");
    let mut failures = String::new();
    for vector in &vectors {
        let provider = provider_at(&vector.url);
        // Told once: what is wrong with a case is rarely a matter of pieces.
        let mut ways = [usize::MAX, 1, 7].into_iter();
        if let Some(failure) = ways.find_map(|pieces| vector.judge(provider, pieces).err()) {
            let _ = writeln!(failures, "{}: {failure}", vector.name);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    vectors.len()
}

/// Sign the body of every case of a vector file, with all of its secrets and under its id, and compare the headers
/// with the case's, byte for byte.
/// Returns how many there are.
///
/// # Panics
///
/// If a header differs.
pub fn signs_alike(provider: &dyn DynProvider, json: &str) -> usize {
    let vectors: Vec<Vector> = serde_json::from_str(json).expect("a vector file");
    for vector in &vectors {
        let keys = vector.keyring(provider).expect("a keyring");
        let body = vector.body();
        let target = vector.target().unwrap_or(TARGET);
        let mut signing = Signing::new(&keys, &body, vector.now).to(target);
        if let Some(id) = vector.identity.as_ref().and_then(|own| own.id.as_ref()) {
            signing = signing.id(EventId::new(id).expect("an id"));
        }
        if vector.secrets.len() > 1 {
            signing = signing.with_every_key();
        }
        for (name, value) in provider.sign(&signing) {
            let theirs = vector.headers.iter();
            let theirs: Vec<_> = theirs
                .filter(|(other, _)| name.eq_ignore_ascii_case(other))
                .map(|(_, value)| value)
                .collect();
            assert_eq!(theirs, [&value], "{}: {name}", vector.name);
        }
    }
    vectors.len()
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    headers: Vec<(String, String)>,
    body_base64: String,
    /// The public one, where the scheme signs it.
    #[serde(default)]
    url: String,
    #[serde(default = "post")]
    method: String,
    now: i64,
    expect: Expect,
    #[serde(default)]
    also_ok: Vec<Expect>,
    #[serde(default)]
    secrets: Vec<String>,
    /// Where signatures are checked with public keys: as a user configures them.
    #[serde(default)]
    public_keys: Vec<String>,
    #[serde(default)]
    keys: Vec<NamedKey>,
    tolerance: Option<u32>,
    signed_base64: Option<String>,
    identity: Option<Expected>,
    handshake: Option<String>,
}

#[derive(Deserialize)]
struct NamedKey {
    kid: String,
    secret: String,
    retire_at: Option<i64>,
}

#[derive(Deserialize)]
struct Expected {
    /// Absent where the sender names none, and the provider derives one.
    id: Option<String>,
    #[serde(rename = "type")]
    event_type: String,
    account: Option<String>,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Expect {
    BadSignature,
    Future,
    Malformed,
    Stale,
    UnknownKey,
    Valid,
}

/// What a case came to, why, and what was read if it is authentic.
struct Answer {
    came: Expect,
    why: String,
    received: Option<Received>,
}

impl Answer {
    fn refused(came: Expect, why: impl fmt::Display) -> Self {
        Self {
            came,
            why: why.to_string(),
            received: None,
        }
    }
}

impl fmt::Display for Expect {
    /// As it is written in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadSignature => "bad_signature",
            Self::Future => "future",
            Self::Malformed => "malformed",
            Self::Stale => "stale",
            Self::UnknownKey => "unknown_key",
            Self::Valid => "valid",
        })
    }
}

impl Vector {
    fn judge(&self, provider: &dyn DynProvider, pieces: usize) -> Result<(), String> {
        let answer = self.receive(provider, pieces)?;
        let came = answer.came;
        if came != self.expect && !self.also_ok.contains(&came) {
            let format = provider.spec().secret();
            let why = match &self.signed_base64 {
                Some(signed) if came == Expect::BadSignature => {
                    if self.is_signature_over(&decode(signed), format) {
                        "a header signs `signed_base64`, the provider takes other bytes for signed"
                    } else {
                        "no header is a MAC over `signed_base64` under these secrets and `secret_format`"
                    }
                }
                _ => &answer.why,
            };
            return Err(format!("is {came}, should be {}: {why}", self.expect));
        }
        match answer.received {
            Some(received) if self.expect == Expect::Valid => self.compare(provider, received),
            _ => Ok(()),
        }
    }

    fn receive(&self, provider: &dyn DynProvider, pieces: usize) -> Result<Answer, String> {
        // A secret that configuration refuses verifies nothing.
        let keys = match self.keyring(provider) {
            Ok(keys) => keys,
            Err(fault) => return Ok(Answer::refused(Expect::UnknownKey, fault)),
        };
        let mut endpoint = Receiver::with_keys(provider, keys, self.now);
        match (self.tolerance, provider.spec().is_timestamped()) {
            (None, true) => return Err("has no `tolerance`, and timestamps are signed".to_owned()),
            (Some(_), false) => {
                return Err("has a `tolerance`, and no timestamp is signed".to_owned());
            }
            (Some(_), true) | (None, false) => {}
        }
        if let Some(secs) = self.tolerance {
            let side = std::time::Duration::from_secs(secs.into());
            endpoint.window = Window::new(side, side).map_err(|error| error.to_string())?;
        }
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| (name, value.as_str()));
        let mut request = Request::new(headers, self.body());
        if let Some(target) = self.target() {
            request = request.to(&self.method, target);
        }
        match endpoint.receive_in_pieces(&request, pieces) {
            Ok(received) => Ok(Answer {
                came: Expect::Valid,
                why: "its signature verifies".to_owned(),
                received: Some(received),
            }),
            Err(why) => match why {
                Rejection::Future { .. } => Ok(Answer::refused(Expect::Future, why)),
                Rejection::Malformed(_) => Ok(Answer::refused(Expect::Malformed, why)),
                Rejection::SignatureMismatch => Ok(Answer::refused(Expect::BadSignature, why)),
                Rejection::Stale { .. } => Ok(Answer::refused(Expect::Stale, why)),
                Rejection::UnknownKey => Ok(Answer::refused(Expect::UnknownKey, why)),
                other => Err(format!("is refused otherwise: {other}")),
            },
        }
    }

    fn compare(&self, provider: &dyn DynProvider, received: Received) -> Result<(), String> {
        let signed = self.signed_base64.as_deref();
        let signed = signed.ok_or("has no signed bytes")?;
        if !self.is_signature_over(&decode(signed), provider.spec().secret()) {
            return Err("nothing carries a MAC over the signed bytes".to_owned());
        }
        if let Some(expected) = &self.handshake {
            let answer = received
                .handshake
                .clone()
                .map_err(|error| error.to_string())?;
            let answer = answer.ok_or("is no handshake")?;
            // A challenge that is echoed is bare text.
            let content_type = if expected.starts_with('{') {
                "application/json"
            } else {
                "text/plain; charset=utf-8"
            };
            if answer.body != expected.as_bytes() || answer.content_type != content_type {
                return Err(format!("is answered with {answer:?}"));
            }
        }
        if let Some(expected) = &self.identity {
            let seen = received.event().map_err(|error| error.to_string())?;
            let same = expected.id.as_ref().is_none_or(|id| seen.id == *id)
                && seen.event_type == expected.event_type
                && seen.account == expected.account;
            if !same {
                return Err(format!("is another event: {seen:?}"));
            }
        }
        Ok(())
    }

    /// Whether a header, or the body, carries a signature of `content` under a key.
    fn is_signature_over(&self, content: &[u8], format: SecretFormat) -> bool {
        let named = self.keys.iter().map(|key| &key.secret);
        let secrets = self.secrets.iter().chain(named);
        let mut keys = secrets.chain(&self.public_keys);
        let body = self.body();
        let body = String::from_utf8_lossy(&body);
        let values = self.headers.iter().map(|(_, value)| &**value);
        let values: Vec<_> = values.chain([&*body]).collect();
        keys.any(|key| signature::stands_in(&values, content, key, format))
    }

    fn keyring(&self, provider: &dyn DynProvider) -> Result<Keyring, KeyringError> {
        // Keyrings begin with an active key.
        let (retiring, active): (Vec<_>, Vec<_>) =
            self.keys.iter().partition(|key| key.retire_at.is_some());
        let named = active.into_iter().chain(retiring).map(|key| {
            let config = KeyConfig::new(key.secret.as_str()).id(&key.kid);
            match key.retire_at {
                Some(end) => config.retire_at(end),
                None => config,
            }
        });
        let unnamed = self.secrets.iter().chain(&self.public_keys);
        let unnamed = unnamed.map(|secret| KeyConfig::new(secret.as_str()));
        Keyring::build(provider.spec().secret(), unnamed.chain(named))
    }

    /// Path and query of the URL, if there is one.
    fn target(&self) -> Option<&str> {
        let (_, rest) = self.url.split_once("://")?;
        rest.find('/').map(|at| &rest[at..])
    }

    fn body(&self) -> Vec<u8> {
        decode(&self.body_base64)
    }
}

fn post() -> String {
    "POST".to_owned()
}

fn decode(base64: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(base64).expect("base64")
}
