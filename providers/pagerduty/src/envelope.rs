//! The signature header, and what is known of PagerDuty.

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Resigns, Signed, Signing, Spec, Verified, Wire,
};

use crate::event;

/// PagerDuty: webhooks v3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct PagerDuty;

impl Provider for PagerDuty {
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

static SPEC: Spec = Spec::untimestamped("pagerduty")
    .payload_at(&["event"])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::hmac_sha256(
    "x-pagerduty-signature",
    Grammar::Versioned {
        separator: ',',
        mark: '=',
        version: "v1",
    },
    &[Part::Body],
);
