//! The signature headers, and what is known of SendGrid.

use std::time::Duration;

use webhook_core::{
    Algorithm, Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider,
    Redelivery, Resigns, SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// SendGrid: the Event Webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct SendGrid;

impl Provider for SendGrid {
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
        event::identities(verified)
    }
}

static SPEC: Spec = Spec::timestamped("sendgrid", Window::FIVE_MINUTES)
    .secret_format(SecretFormat::P256Spki)
    .redelivers(
        Redelivery::For(Duration::from_hours(24)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::new(
    Algorithm::EcdsaP256Sha256,
    "x-twilio-email-event-webhook-signature",
    Grammar::Prefixed(""),
    &[Part::Timestamp, Part::Body],
)
.base64()
.timestamp_header("x-twilio-email-event-webhook-timestamp");
