//! The signature header, and what is known of Zendesk.

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Resigns, Signed, Signing, Spec, TimestampForm, Verified, Window, Wire,
};

use crate::event;

/// Zendesk: webhooks that are subscribed to events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Zendesk;

impl Provider for Zendesk {
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

static SPEC: Spec = Spec::timestamped("zendesk", Window::FIVE_MINUTES)
    .kept_headers(&["x-zendesk-webhook-id", "x-zendesk-webhook-invocation-id"])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

/// Timestamp and body are joined without a separator: the timestamp ends at its only `Z`.
const WIRE: Wire = Wire::hmac_sha256(
    "x-zendesk-webhook-signature",
    Grammar::Prefixed(""),
    &[Part::Timestamp, Part::Body],
)
.base64()
.timestamps(TimestampForm::Rfc3339)
.timestamp_header("x-zendesk-webhook-signature-timestamp");
