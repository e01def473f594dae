//! The signature header over the public URL, and what is known of Twilio.

use webhook_core::{
    Algorithm, Candidate, Envelope, Head, Identities, InvalidEvent, Malformed, Provider, PublicUrl,
    Redelivery, Resigns, Signed, Signing, Spec, Tag, Verified,
};

use crate::content::{self, Bodies};
use crate::{event, settings};

/// Twilio: the webhooks of an account, at one public origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twilio {
    url: PublicUrl,
    bodies: Bodies,
}

impl Twilio {
    /// Reached by this URL, and sent forms: messages, calls, their states.
    pub fn at(url: PublicUrl) -> Self {
        let bodies = Bodies::Forms;
        Self { url, bodies }
    }

    /// Sent JSON instead, with its digest in the URL: Event Streams. An endpoint takes one or the other, never both: what was
    /// signed as a form could else be read as a URL.
    #[must_use]
    pub fn json(self) -> Self {
        let bodies = Bodies::Json;
        Self { bodies, ..self }
    }
}

impl Provider for Twilio {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let (key, algorithm) = settings::read(head)?;
        let tag = Tag::from_base64(algorithm, head.one(SIGNATURE)?);
        let tag = tag.ok_or(Malformed::Grammar(SIGNATURE))?;
        let candidate = match key {
            Some(id) => Candidate::by_key(algorithm, id, tag),
            None => Candidate::unnamed(algorithm, tag),
        };
        let [without, with] = self.url.without_and_with_port(head)?;
        Ok(Envelope::new(content::of(&without, self.bodies)?)
            .or(content::of(&with, self.bodies)?)
            .candidate(candidate))
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let content = Head::new("POST", with.target(), [])
            .and_then(|head| self.url.of(&head))
            .and_then(|url| content::of(&url, self.bodies));
        // A target that no request can have is signed by nobody.
        let Ok(content) = content else {
            return vec![(SIGNATURE, String::new())];
        };
        let tag = |algorithm| with.tags(algorithm, &content).into_iter().next();
        // A key with an id is a shared one.
        let shared = tag(Algorithm::HmacSha256).and_then(|tag| Some((tag.key_id?, tag.tag)));
        if let Some((id, tag)) = shared {
            return vec![(SIGNATURE, tag.to_base64()), settings::write(&id)];
        }
        let tag = tag(Algorithm::HmacSha1).map(|signed| signed.tag.to_base64());
        vec![(SIGNATURE, tag.unwrap_or_default())]
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        // Verified: it has a URL.
        let url = self.url.of(verified.unsigned_head());
        let url = url.map_err(|_| InvalidEvent::Body)?;
        event::identities(&url, verified.body(), self.bodies)
    }
}

static SPEC: Spec = Spec::untimestamped("twilio")
    .content_types(&["application/x-www-form-urlencoded", "application/json"])
    .kept_headers(&["i-twilio-idempotency-token"])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

const SIGNATURE: &str = "x-twilio-signature";
