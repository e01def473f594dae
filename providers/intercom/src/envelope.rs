//! The signature header, and what is known of Intercom.

use webhook_core::{
    Algorithm, Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider,
    Redelivery, Resigns, Signed, Signing, Spec, Verified, Wire,
};

use crate::event;

/// Intercom: topics of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Intercom;

impl Provider for Intercom {
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

static SPEC: Spec = Spec::untimestamped("intercom")
    .payload_at(&["data", "item"])
    .volatile(&[
        &["delivered_at"],
        &["delivery_attempts"],
        &["delivery_status"],
        &["first_sent_at"],
    ])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::new(
    Algorithm::HmacSha1,
    "x-hub-signature",
    Grammar::Prefixed("sha1="),
    &[Part::Body],
);
