//! The signature headers, and what is known of their senders.

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Resigns, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// Any sender that signs `timestamp.body` under named keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "keys belong to the endpoint")]
pub struct Timestamped;

impl Provider for Timestamped {
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

static SPEC: Spec = Spec::timestamped("timestamped", Window::FIVE_MINUTES)
    .payload_at(&[])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::hmac_sha256(
    "x-webhook-signature",
    Grammar::Keyed { separator: ',' },
    &[Part::Timestamp, Part::Literal("."), Part::Body],
)
.timestamp_header("x-webhook-timestamp");
