//! The signature headers over the public URL, and what is known of HubSpot.

use std::time::Duration;

use webhook_core::{
    Algorithm, Candidate, Envelope, Head, Identities, InvalidEvent, Malformed, Provider, PublicUrl,
    Redelivery, Resigns, Segment, Signed, Signing, Spec, Tag, TimestampForm, Verified, Window,
};

use crate::{event, uri};

/// HubSpot: the webhooks of an app, at one public origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubSpot {
    url: PublicUrl,
}

impl HubSpot {
    /// Reached by this URL.
    pub fn at(url: PublicUrl) -> Self {
        Self { url }
    }

    fn content<'r>(
        &self,
        head: &Head<'r>,
        timestamp: Segment<'r>,
    ) -> Result<[Segment<'r>; 4], Malformed> {
        Ok([
            Segment::text(head.method()),
            Segment::text(uri::decode(&self.url.of(head)?)),
            Segment::Body,
            timestamp,
        ])
    }
}

impl Provider for HubSpot {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let tag = Tag::from_base64(ALGORITHM, head.one(SIGNATURE)?);
        let tag = tag.ok_or(Malformed::Grammar(SIGNATURE))?;
        let timestamp = TimestampForm::Millis.read(head.one(TIMESTAMP)?)?;
        let content = self.content(head, Segment::Timestamp)?;
        Ok(Envelope::new(content)
            .at(timestamp)
            .candidate(Candidate::unnamed(ALGORITHM, tag)))
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let stamp = TimestampForm::Millis.write(with.unix_secs());
        let content = Head::new("POST", with.target(), [])
            .and_then(|head| self.content(&head, Segment::text(stamp.clone())));
        // A target that no request can have is signed by nobody.
        let signed = content.map(|content| with.tags(ALGORITHM, &content));
        let tag = signed.ok().and_then(|tags| tags.into_iter().next());
        let tag = tag.map(|signed| signed.tag.to_base64());
        vec![(SIGNATURE, tag.unwrap_or_default()), (TIMESTAMP, stamp)]
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        event::identities(verified)
    }
}

static SPEC: Spec = Spec::timestamped("hubspot", Window::FIVE_MINUTES)
    .volatile(&[event::ATTEMPT])
    .redelivers(
        Redelivery::For(Duration::from_hours(24)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::Unknown);

const SIGNATURE: &str = "x-hubspot-signature-v3";
const TIMESTAMP: &str = "x-hubspot-request-timestamp";
const ALGORITHM: Algorithm = Algorithm::HmacSha256;
