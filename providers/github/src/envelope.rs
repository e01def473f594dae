//! The signature header, and what is known of GitHub.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Relabelable, Resigns, Signing, Spec, Verified, Wire,
};

use crate::{event, members};

/// GitHub: repository, organisation and App webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "keys belong to the endpoint")]
pub struct GitHub;

impl Provider for GitHub {
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
        event::identities(verified)
    }

    fn corroborates(&self, event_type: &str, payload: &[u8]) -> bool {
        members::corroborate(event_type, payload)
    }
}

static SPEC: Spec = Spec::untimestamped("github")
    .max_body_bytes(25 * 1024 * 1024)
    .content_types(&["application/json", "application/x-www-form-urlencoded"])
    .kept_headers(&[
        "x-github-hook-id",
        "x-github-hook-installation-target-id",
        "x-github-hook-installation-target-type",
    ])
    // Two dispatches with equal inputs are two; a `ping` has nothing of its own but its maxim.
    .repeats_legitimately(&["ping", "repository_dispatch", "workflow_dispatch"])
    // Current documents say three days, older ones thirty: identities outlive the longer.
    .redelivers(
        Redelivery::Never,
        Redelivery::For(Duration::from_hours(30 * 24)),
    )
    .resigns_on_retry(Resigns::No);

const WIRE: Wire = Wire::hmac_sha256(
    "x-hub-signature-256",
    Grammar::Prefixed("sha256="),
    &[Part::Body],
);
