//! The signature header, and what is known of Linear.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Relabelable, Resigns, Signing, Spec, TimestampForm, Verified, Window, Wire,
};

use crate::event;

/// Linear: webhooks of a workspace or a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Linear;

impl Provider for Linear {
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
        let identity = event::identity(verified)?;
        Ok([identity].into_iter().collect())
    }
}

static SPEC: Spec = Spec::timestamped("linear", Window::both_sides(60))
    .timestamp_in_body(&["webhookTimestamp"], TimestampForm::Millis)
    .max_body_bytes(5 * 1024 * 1024)
    // The moment of the attempt, perhaps.
    .volatile(&[&["webhookTimestamp"]])
    .redelivers(
        // A minute, an hour and six hours, one after the other.
        Redelivery::For(Duration::from_mins(1 + 60 + 6 * 60)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::hmac_sha256("linear-signature", Grammar::Prefixed(""), &[Part::Body]);
