//! The signature header, and what is known of Shopify.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Relabelable, Resigns, Signing, Spec, Verified, Wire,
};

use crate::{event, members};

/// Shopify: webhooks of an app, for whichever shops installed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Shopify;

impl Provider for Shopify {
    type Identity = Relabelable;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Wire::read_any(&[WIRE, EVENTS], head)
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

static SPEC: Spec = Spec::untimestamped("shopify")
    // Not documented. A product may have two thousand variants.
    .max_body_bytes(8 * 1024 * 1024)
    .kept_headers(&[
        "x-shopify-shop-domain",
        "x-shopify-api-version",
        "x-shopify-event-id",
        "x-shopify-triggered-at",
        "shopify-shop-domain",
        "shopify-api-version",
        "shopify-event-id",
        "shopify-triggered-at",
    ])
    // It names a shop and nothing else, and a shop can come and go twice.
    .repeats_legitimately(&["shop/redact"])
    // `orders/create` and `orders/paid` of an order that is paid at once, for example.
    .topics_share_bodies()
    .redelivers(
        Redelivery::For(Duration::from_hours(4)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::No);

const WIRE: Wire = wire("x-shopify-hmac-sha256");

/// The names of the Events product.
const EVENTS: Wire = wire("shopify-hmac-sha256");

const fn wire(header: &'static str) -> Wire {
    Wire::hmac_sha256(header, Grammar::Prefixed(""), &[Part::Body]).base64()
}
