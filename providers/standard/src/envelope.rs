//! The signature headers, and what is known of their senders.

use webhook_core::{
    Algorithm, Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider,
    Redelivery, Resigns, SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// Any sender that keeps to the Standard Webhooks specification.
#[derive(Debug, Clone)]
pub struct Standard(Spec);

impl Standard {
    /// By the book: handlers decode `data`, keys are `whsec_` with base64, or `whpk_` and `whsk_`.
    pub const fn new() -> Self {
        Self(SPEC)
    }

    /// Handlers decode the whole body, for senders whose bodies have no `data`.
    #[must_use]
    pub const fn whole_body(self) -> Self {
        Self(self.0.payload_at(&[]))
    }

    /// The key is the secret's whole text, `whsec_` included, for senders that do not decode it. Public keys are then
    /// refused.
    #[must_use]
    pub const fn text_secrets(self) -> Self {
        Self(
            self.0
                .secret_format(SecretFormat::Text { prefix: "whsec_" }),
        )
    }
}

impl Default for Standard {
    fn default() -> Self {
        Self::new()
    }
}

impl Provider for Standard {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &self.0
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Wire::read_any(&[WIRE, SVIX], head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        WIRE.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let identity = event::identity(verified)?;
        Ok([identity].into_iter().collect())
    }
}

const SPEC: Spec = Spec::timestamped("standard", Window::FIVE_MINUTES)
    .secret_format(SecretFormat::StandardWebhooks)
    .payload_at(&["data"])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Yes);

const WIRE: Wire = wire("webhook-signature")
    .timestamp_header("webhook-timestamp")
    .id_header("webhook-id");

/// The names before the scheme became a standard.
const SVIX: Wire = wire("svix-signature")
    .timestamp_header("svix-timestamp")
    .id_header("svix-id");

const fn wire(header: &'static str) -> Wire {
    let grammar = Grammar::Versioned {
        separator: ' ',
        mark: ',',
        version: "v1",
    };
    let content = &[
        Part::Id,
        Part::Literal("."),
        Part::Timestamp,
        Part::Literal("."),
        Part::Body,
    ];
    Wire::hmac_sha256(header, grammar, content)
        .base64()
        .also("v1a", Algorithm::Ed25519)
}
