//! The signature header, and what is known of Acme.

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Resigns, SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// Acme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acme;

impl Provider for Acme {
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
        let identity = event::identity(verified.body())?;
        Ok([identity].into_iter().collect())
    }
}

static SPEC: Spec = Spec::timestamped("acme", Window::FIVE_MINUTES)
    .secret_format(SecretFormat::Text { prefix: "" })
    .payload_at(&["data"])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::hmac_sha256(
    "acme-signature",
    Grammar::Pairs {
        separator: ',',
        timestamp: "t",
        tag: "s",
    },
    &[Part::Timestamp, Part::Literal("."), Part::Body],
);
