//! The signature header, and what is known of Calendly.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Resigns, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// Calendly: webhook subscriptions of a user or an organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Calendly;

impl Provider for Calendly {
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

static SPEC: Spec = Spec::timestamped("calendly", Window::both_sides(180))
    .payload_at(&["payload"])
    // Perhaps the moment of the attempt.
    .volatile(&[&["created_at"]])
    .redelivers(
        Redelivery::For(Duration::from_hours(24)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::hmac_sha256(
    "calendly-webhook-signature",
    Grammar::Pairs {
        separator: ',',
        timestamp: "t",
        tag: "v1",
    },
    &[Part::Timestamp, Part::Literal("."), Part::Body],
);
