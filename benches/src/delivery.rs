//! Deliveries as Stripe sends them, signed anew at each start: the window is open for five minutes.

use bytes::Bytes;
use webhook_core::{
    Arrival, Clock, Head, Judged, KeyConfig, Keyring, Malformed, Provider as _, Rejection, Signing,
    Verified, Window,
};
use webhook_stripe::Stripe;

/// Secrets of one endpoint, the newest first. The part after `whsec_` is base64, for the peers
/// that decode it; we and async-stripe take the whole text.
pub const SECRETS: [&str; 3] = [
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "whsec_c2VjcmV0LW9mLWxhc3QtbW9udGgtcmV0",
    "whsec_b2xkZXItc3RpbGwsIG9uIHRoZSB3YXkh",
];

/// The endpoint's path.
pub const PATH: &str = "/webhooks/stripe";

/// A signed request, owned.
#[derive(Debug)]
#[non_exhaustive]
pub struct Delivery {
    /// The endpoint's keys.
    pub keys: Keyring,
    /// The raw body.
    pub body: Bytes,
    /// When it was signed.
    pub unix_secs: i64,
    /// The header fields in wire order.
    pub fields: Vec<(&'static str, String)>,
}

impl Delivery {
    /// `body_bytes` of text, signed now with the newest of `secrets`, behind `decoys` signatures
    /// that do not match.
    ///
    /// # Panics
    ///
    /// If the secrets are no keyring.
    pub fn new(clock: &dyn Clock, body_bytes: usize, secrets: &[&str], decoys: usize) -> Self {
        // Static: a verifier takes its chunk over, and handing it over is none of its costs.
        let body = Bytes::from_static(text(body_bytes).leak().as_bytes());
        Self::with_body(clock, body, secrets, decoys)
    }

    /// The same around `body`.
    ///
    /// # Panics
    ///
    /// If the secrets are no keyring.
    pub fn with_body(clock: &dyn Clock, body: Bytes, secrets: &[&str], decoys: usize) -> Self {
        let format = Stripe::live().spec().secret();
        #[expect(clippy::expect_used, reason = "the secrets are ours")]
        let keys = Keyring::build(format, secrets.iter().map(|&secret| KeyConfig::new(secret)))
            .expect("a keyring");
        let unix_secs = clock.unix_secs();
        let mut fields = vec![
            ("host", "shop.example".to_owned()),
            (
                "user-agent",
                "Stripe/1.0 (+https://stripe.com/docs/webhooks)".to_owned(),
            ),
            ("content-length", body.len().to_string()),
            ("accept", "*/*; q=0.5, application/xml".to_owned()),
            ("accept-encoding", "gzip".to_owned()),
            ("cache-control", "no-cache".to_owned()),
            ("content-type", "application/json; charset=utf-8".to_owned()),
        ];
        let signed = Stripe::live().sign(&Signing::new(&keys, &body, unix_secs));
        fields.extend(signed.into_iter().map(|(name, value)| {
            // Input: `t=1700000000,v1=5257a8..`
            // Output: `t=1700000000,v1=0000..,v1=5257a8..`, with one decoy
            let decoy = format!(",v1={}", "0".repeat(64));
            (
                name,
                value.replace(",v1=", &format!("{},v1=", decoy.repeat(decoys))),
            )
        }));
        Self {
            keys,
            body,
            unix_secs,
            fields,
        }
    }

    /// Its head, borrowed as adapters borrow it from their framework.
    ///
    /// # Errors
    ///
    /// Never: it has eight fields.
    pub fn head(&self) -> Result<Head<'_>, Malformed> {
        let fields = self.fields.iter();
        let fields = fields.map(|(name, value)| (*name, value.as_bytes()));
        Head::new("POST", PATH, fields)
    }

    /// The whole request as HTTP/1.1.
    pub fn to_http(&self) -> Bytes {
        let mut request = format!("POST {PATH} HTTP/1.1\r\n").into_bytes();
        for (name, value) in &self.fields {
            request.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(&self.body);
        request.into()
    }

    /// The value of the signature header.
    pub fn signature(&self) -> &str {
        self.fields.last().map_or("", |(_, value)| value)
    }
}

/// Everything between the bytes of a request and authentic bytes. This is what rows call *verify*.
///
/// # Errors
///
/// The rejection.
pub fn verify<'h>(
    clock: &dyn Clock,
    keys: &Keyring,
    head: &'h Head<'h>,
    body: Bytes,
) -> Result<Verified<'h>, Rejection> {
    let now = Arrival::observed(clock);
    let judged = Judged::judge(&Stripe::live(), head, Window::FIVE_MINUTES, now)?;
    let mut verifier = judged.keyed(keys, now, 1024 * 1024)?;
    verifier.update(body)?;
    verifier.finish(head)
}

/// Letters and spaces. No JSON, so that peers which parse at once after verifying stop there.
fn text(bytes: usize) -> String {
    "webhook ".chars().cycle().take(bytes).collect()
}
