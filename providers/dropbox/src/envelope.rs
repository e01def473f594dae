//! The signature header, the challenge, and what is known of Dropbox.

use webhook_core::{
    Envelope, Grammar, Handshake, Head, Identities, InvalidEvent, Malformed, Part, Provider, Query,
    Redelivery, Relabelable, Resigns, Signing, Spec, Verified, Wire,
};

use crate::event;

/// Dropbox: notifications of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Dropbox;

impl Provider for Dropbox {
    type Identity = Relabelable;

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
        let identity = event::identity(verified.body())?;
        Ok([identity].into_iter().collect())
    }

    fn greet(&self, head: &Head<'_>) -> Option<Handshake> {
        let query = Query::of(head.target()).ok()?;
        Handshake::echo(query.get("challenge")?)
    }
}

static SPEC: Spec = Spec::untimestamped("dropbox")
    .answers_get()
    .repeats_legitimately(&[event::LIST_FOLDER])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::No);

const WIRE: Wire = Wire::hmac_sha256("x-dropbox-signature", Grammar::Prefixed(""), &[Part::Body]);
