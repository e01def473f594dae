//! Two small providers: one signs its identities, the other does not.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use webhook_core::danger::trusted_arrival;
use webhook_core::{
    Account, Clock, DynProvider, Envelope, EventId, EventType, Grammar, Head, Identities, Identity,
    InvalidEvent, Judged, KeyConfig, Keyring, Malformed, Part, Provider, Rejection, Relabelable,
    SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

/// Signs `t.body`; id, type and account in the body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket;

/// Signs the body; id and type in headers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Badge;

static TICKET: Spec = Spec::timestamped("ticket", Window::FIVE_MINUTES).volatile(&[&["attempt"]]);
static BADGE: Spec = Spec::untimestamped("badge").repeats_legitimately(&["ping"]);

const TICKET_WIRE: Wire = Wire::hmac_sha256(
    "x-ticket",
    Grammar::Pairs {
        separator: ',',
        timestamp: "t",
        tag: "v1",
    },
    &[Part::Timestamp, Part::Literal("."), Part::Body],
);
const BADGE_WIRE: Wire = Wire::hmac_sha256("x-badge", Grammar::Prefixed("sha256="), &[Part::Body]);

#[derive(Deserialize)]
struct Body<'b> {
    #[serde(borrow)]
    id: Cow<'b, str>,
    #[serde(borrow, rename = "type")]
    event_type: Cow<'b, str>,
    #[serde(borrow)]
    account: Option<Cow<'b, str>>,
}

impl Provider for Ticket {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &TICKET
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        TICKET_WIRE.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        TICKET_WIRE.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let body: Body<'_> = verified.json()?;
        let account = body.account.map(|name| Account::new(&name)).transpose()?;
        let identity = Identity::new(EventId::new(&body.id)?, EventType::new(&body.event_type)?);
        Ok([identity.account(account)].into_iter().collect())
    }
}

impl Provider for Badge {
    type Identity = Relabelable;

    fn spec(&self) -> &Spec {
        &BADGE
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        BADGE_WIRE.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        BADGE_WIRE.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let head = verified.unsigned_head();
        let id = head.one("x-id").map_err(|_| InvalidEvent::Id)?;
        let event_type = head.one("x-type").map_err(|_| InvalidEvent::Type)?;
        Ok([Identity::new(
            EventId::new(id)?,
            EventType::new(event_type)?,
        )]
        .into_iter()
        .collect())
    }
}

#[derive(Debug)]
pub(crate) struct At(pub(crate) i64);

impl Clock for At {
    fn unix_secs(&self) -> i64 {
        self.0
    }
}

pub(crate) const NOW: i64 = 1_750_000_000;

pub(crate) fn ring(secrets: &[&str]) -> Keyring {
    let format = SecretFormat::Text { prefix: "" };
    Keyring::build(format, secrets.iter().map(|secret| KeyConfig::new(*secret))).unwrap()
}

/// The headers of a signed request.
pub(crate) fn signed(
    provider: &dyn DynProvider,
    keys: &Keyring,
    body: &[u8],
    at: i64,
) -> Vec<(String, String)> {
    let headers = provider.sign(&Signing::new(keys, body, at));
    headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Push a request through the gates and look at what comes out.
pub(crate) fn verify<T>(
    provider: &dyn DynProvider,
    keys: &Keyring,
    headers: &[(String, String)],
    body: &[u8],
    now: i64,
    then: impl FnOnce(Verified<'_>) -> T,
) -> Result<T, Rejection> {
    let fields = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()));
    let head = Head::new("POST", "/", fields)?;
    let now = trusted_arrival(now);
    let judged = Judged::judge(provider, &head, Window::FIVE_MINUTES, now)?;
    let mut verifier = judged.keyed(keys, now, 1 << 20)?;
    for chunk in body.chunks(7) {
        verifier.update(Bytes::copy_from_slice(chunk))?;
    }
    verifier.finish(&head).map(then)
}
