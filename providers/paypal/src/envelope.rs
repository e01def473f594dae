//! The signature headers, and what is known of PayPal.

use std::time::Duration;

use webhook_core::{
    Algorithm, Candidate, Envelope, EventId, Head, Identities, InvalidEvent, Malformed, Provider,
    Redelivery, Relabelable, Resigns, SecretFormat, Segment, Signing, Spec, Tag, TimestampForm,
    Verified, Window,
};

use crate::event;

/// PayPal: one webhook of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayPal {
    webhook_id: String,
}

impl PayPal {
    /// Take events that are bound to their signature by a checksum alone, signed for the webhook with this id.
    pub fn dangerous_checksummed_events(webhook_id: impl Into<String>) -> Self {
        Self {
            webhook_id: webhook_id.into(),
        }
    }

    /// Whether this URL is that of a certificate of PayPal: `https://api.paypal.com/v1/notifications/certs/NAME`.
    pub fn is_certificate_url(url: &str) -> bool {
        is_certificate_at("https://api.paypal.com/", url)
    }

    /// The same of the sandbox: `https://api.sandbox.paypal.com/v1/notifications/certs/NAME`. For endpoints that no
    /// live event shall reach, and never for one that live events do.
    pub fn is_sandbox_certificate_url(url: &str) -> bool {
        is_certificate_at("https://api.sandbox.paypal.com/", url)
    }

    fn content<'r>(&self, timestamp: Segment<'r>) -> [Segment<'r>; 5] {
        [
            Segment::Id,
            Segment::text("|"),
            timestamp,
            Segment::text(format!("|{}|", self.webhook_id)),
            Segment::BodyCrc32,
        ]
    }
}

fn is_certificate_at(host: &str, url: &str) -> bool {
    let path = url.strip_prefix(host);
    let name = path.and_then(|path| path.strip_prefix("v1/notifications/certs/"));
    name.is_some_and(is_id)
}

impl Provider for PayPal {
    type Identity = Relabelable;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let id = head.one(ID)?;
        if !is_id(id) {
            return Err(Malformed::Grammar(ID));
        }
        let id = EventId::new(id).map_err(|_| Malformed::Grammar(ID))?;
        let timestamp = TimestampForm::Rfc3339.read(head.one(TIME)?)?;
        if head.one(ALGORITHM_NAME)? != SHA256_WITH_RSA {
            return Err(Malformed::Grammar(ALGORITHM_NAME));
        }
        let tag = Tag::from_base64(ALGORITHM, head.one(SIGNATURE)?);
        let tag = tag.ok_or(Malformed::Grammar(SIGNATURE))?;
        let envelope = Envelope::new(self.content(Segment::Timestamp))
            .id(id)
            .at(timestamp)
            .candidate(Candidate::unnamed(ALGORITHM, tag));
        Ok(match head.one(CERTIFICATE) {
            Ok(url) => envelope.certified_at(url),
            // Whose keys are configured does without, and whose are not has none then.
            Err(_) => envelope,
        })
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let time = TimestampForm::Rfc3339.write(with.unix_secs());
        let content = self.content(Segment::text(time.clone()));
        let tags = with.tags(ALGORITHM, &content);
        let tag = tags.first().map(|signed| signed.tag.to_base64());
        vec![
            (ID, with.event_id().into_owned()),
            (TIME, time),
            (ALGORITHM_NAME, SHA256_WITH_RSA.to_owned()),
            (SIGNATURE, tag.unwrap_or_default()),
        ]
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let id = verified.signed_id().ok_or(InvalidEvent::Id)?;
        let body = verified.unsigned_body().ok_or(InvalidEvent::Body)?;
        let identity = event::identity(id.clone(), body)?.payload(body.clone());
        Ok([identity].into_iter().collect())
    }
}

/// Without the character that ends it.
fn is_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.bytes().all(allowed)
}

static SPEC: Spec = Spec::timestamped("paypal", Window::FIVE_MINUTES)
    .names_certificate()
    .secret_format(SecretFormat::RsaSpki)
    .payload_at(&["resource"])
    .redelivers(
        Redelivery::For(Duration::from_hours(72)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::Unknown);

const ID: &str = "paypal-transmission-id";
const TIME: &str = "paypal-transmission-time";
const ALGORITHM_NAME: &str = "paypal-auth-algo";
const CERTIFICATE: &str = "paypal-cert-url";
const SIGNATURE: &str = "paypal-transmission-sig";
const SHA256_WITH_RSA: &str = "SHA256withRSA";
const ALGORITHM: Algorithm = Algorithm::RsaPkcs1Sha256;
