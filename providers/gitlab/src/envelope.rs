//! The signature headers, and what is known of GitLab.

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Resigns, SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// GitLab, with a signing token: webhooks of projects and groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct GitLab;

impl Provider for GitLab {
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
        let identity = event::identity(verified)?;
        Ok([identity].into_iter().collect())
    }
}

static SPEC: Spec = Spec::timestamped("gitlab", Window::FIVE_MINUTES)
    .secret_format(SecretFormat::Base64 { prefix: "whsec_" })
    .max_body_bytes(25 * 1024 * 1024)
    .kept_headers(&[
        "x-gitlab-event",
        "x-gitlab-event-uuid",
        "x-gitlab-instance",
        "x-gitlab-webhook-uuid",
    ])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::hmac_sha256(
    "webhook-signature",
    Grammar::Versioned {
        separator: ' ',
        mark: ',',
        version: "v1",
    },
    &[
        Part::Id,
        Part::Literal("."),
        Part::Timestamp,
        Part::Literal("."),
        Part::Body,
    ],
)
.base64()
.timestamp_header("webhook-timestamp")
.id_header("webhook-id");
