//! The signature header, and what is known of Bitbucket Cloud.

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Relabelable, Resigns, Signing, Spec, Verified, Wire,
};

use crate::{event, members};

/// Bitbucket Cloud: webhooks of a repository or a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Bitbucket;

impl Provider for Bitbucket {
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

    fn corroborates(&self, event_type: &str, payload: &[u8]) -> bool {
        members::corroborate(event_type, payload)
    }
}

static SPEC: Spec = Spec::untimestamped("bitbucket")
    // Not documented. Pushes of many commits are large.
    .max_body_bytes(10 * 1024 * 1024)
    .kept_headers(&["x-hook-uuid", "x-attempt-number"])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::No);

const WIRE: Wire = Wire::hmac_sha256(
    "x-hub-signature",
    Grammar::Prefixed("sha256="),
    &[Part::Body],
);
