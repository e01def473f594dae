//! The signature header, and what is known of Typeform.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Resigns, Signed, Signing, Spec, Verified, Wire,
};

use crate::event;

/// Typeform: webhooks of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Typeform;

impl Provider for Typeform {
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

static SPEC: Spec = Spec::untimestamped("typeform")
    .payload_at(&["form_response"])
    // Ten hours in one schedule, ten and a half in the other.
    .redelivers(
        Redelivery::For(Duration::from_hours(11)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::No);

const WIRE: Wire = Wire::hmac_sha256(
    "typeform-signature",
    Grammar::Prefixed("sha256="),
    &[Part::Body],
)
.base64();
