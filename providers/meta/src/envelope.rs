//! The signature header, the challenge, and what is known of Meta.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Handshake, Head, Identities, InvalidEvent, Malformed, Part, Provider, Query,
    Redelivery, Resigns, Secret, Signed, Signing, Spec, Verified, Wire,
};

use crate::event;

/// Meta: the webhooks of an app.
#[derive(Debug, Clone)]
pub struct Meta {
    verify_token: Secret,
}

impl Meta {
    /// An app whose webhooks were registered with this verify token. An empty one answers no handshake.
    pub fn verified_by(token: impl Into<Secret>) -> Self {
        Self {
            verify_token: token.into(),
        }
    }
}

impl Provider for Meta {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        WIRE.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        WIRE.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        event::identities(verified.body())
    }

    fn greet(&self, head: &Head<'_>) -> Option<Handshake> {
        let query = Query::of(head.target()).ok()?;
        let token = query.get("hub.verify_token")?;
        let is_ours = self.verify_token.is(token.as_bytes());
        if !is_ours || query.get("hub.mode") != Some("subscribe") {
            return None;
        }
        Handshake::echo(query.get("hub.challenge")?)
    }
}

static SPEC: Spec = Spec::untimestamped("meta")
    .answers_get()
    .payload_at(&["value"])
    .volatile(&[&["entry", "time"]])
    // Not documented. A batch holds up to 1000 items.
    .max_body_bytes(3 * 1024 * 1024)
    .redelivers(
        Redelivery::For(Duration::from_hours(7 * 24)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::No);

const WIRE: Wire = Wire::hmac_sha256(
    "x-hub-signature-256",
    Grammar::Prefixed("sha256="),
    &[Part::Body],
);
