//! The signature header over a configured URL, and what is known of Square.

use std::time::Duration;

use webhook_core::{
    Algorithm, Candidate, Envelope, Head, Identities, InvalidEvent, Malformed, Provider,
    Redelivery, Resigns, Segment, Signed, Signing, Spec, Tag, Verified,
};

use crate::event;

/// Square, notifying one URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Square {
    url: &'static str,
}

impl Square {
    /// Notified at this URL, byte for byte as it is registered: scheme, host, path and query.
    ///
    /// For start-up: the text is kept until the process ends.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into().leak(),
        }
    }

    fn content(self) -> [Segment<'static>; 2] {
        [Segment::text(self.url), Segment::Body]
    }
}

impl Provider for Square {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let tag = Tag::from_base64(ALGORITHM, head.one(SIGNATURE)?);
        let tag = tag.ok_or(Malformed::Grammar(SIGNATURE))?;
        let candidate = Candidate::unnamed(ALGORITHM, tag);
        Ok(Envelope::new(self.content()).candidate(candidate))
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let signed = with.tags(ALGORITHM, &self.content());
        let tag = signed.first().map(|signed| signed.tag.to_base64());
        vec![(SIGNATURE, tag.unwrap_or_default())]
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let identity = event::identity(verified.body())?;
        Ok([identity].into_iter().collect())
    }
}

static SPEC: Spec = Spec::untimestamped("square")
    .payload_at(&["data"])
    .kept_headers(&[
        "square-environment",
        "square-retry-number",
        "square-retry-reason",
    ])
    .redelivers(
        // 1, 2, 4, 8, 16, 32 and 60 minutes, 2, 4, 8 and 8 hours.
        Redelivery::For(Duration::from_mins(123 + 22 * 60)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::No);

const SIGNATURE: &str = "x-square-hmacsha256-signature";
const ALGORITHM: Algorithm = Algorithm::HmacSha256;
