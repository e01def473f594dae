//! The signature headers, and what is known of Discord.

use std::time::Duration;

use webhook_core::{
    Algorithm, Envelope, Grammar, Handshake, Head, Identities, InvalidEvent, Malformed, Part,
    Provider, Redelivery, Resigns, SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event::{self, Product};

/// Discord: the interactions or the webhook events of an application.
#[derive(Debug, Clone)]
pub struct Discord {
    product: Product,
    spec: Spec,
}

impl Discord {
    /// The interactions endpoint: commands, components, modals.
    pub const fn interactions() -> Self {
        Self {
            product: Product::Interactions,
            spec: SPEC.redelivers(Redelivery::Unknown, Redelivery::Unknown),
        }
    }

    /// The webhook events endpoint: authorisations, entitlements and what else is subscribed to.
    pub const fn events() -> Self {
        Self {
            product: Product::Events,
            spec: SPEC
                .payload_at(&["event", "data"])
                .success_status(204)
                .redelivers(
                    Redelivery::For(Duration::from_mins(10)),
                    Redelivery::Unknown,
                ),
        }
    }
}

impl Provider for Discord {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        WIRE.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        WIRE.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let identity = event::identity(self.product, verified.body())?;
        Ok([identity].into_iter().collect())
    }

    fn handshake(&self, verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent> {
        event::handshake(self.product, verified.body())
    }
}

const SPEC: Spec = Spec::timestamped("discord", Window::FIVE_MINUTES)
    .secret_format(SecretFormat::Ed25519Hex)
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::new(
    Algorithm::Ed25519,
    "x-signature-ed25519",
    Grammar::Prefixed(""),
    &[Part::Timestamp, Part::Body],
)
.timestamp_header("x-signature-timestamp");
