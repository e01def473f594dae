//! The signature headers, and what is known of Zoom.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Handshake, Head, Identities, InvalidEvent, Malformed, Part, Provider,
    Redelivery, Resigns, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// Zoom: event subscriptions of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Zoom;

impl Provider for Zoom {
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

    fn handshake(&self, verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent> {
        event::handshake(verified)
    }
}

static SPEC: Spec = Spec::timestamped("zoom", Window::FIVE_MINUTES)
    .payload_at(&["payload"])
    // Signed content begins with `v0:`, which no challenge may hold.
    .asks_for_proof()
    .redelivers(
        Redelivery::For(Duration::from_mins(5 + 20 + 60)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::hmac_sha256(
    "x-zm-signature",
    Grammar::Prefixed("v0="),
    &[
        Part::Literal("v0:"),
        Part::Timestamp,
        Part::Literal(":"),
        Part::Body,
    ],
)
.timestamp_header("x-zm-request-timestamp");
