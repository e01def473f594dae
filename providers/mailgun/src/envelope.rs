//! The signature in the body, and what is known of Mailgun.

use std::borrow::Cow;
use std::time::Duration;

use webhook_core::{
    Algorithm, Candidate, Envelope, Head, Identities, InvalidEvent, Malformed, Provider,
    Redelivery, Relabelable, Resigns, Segment, SignedTag, Signing, Spec, Tag, TimestampForm,
    UntrustedBody, Verified, Window,
};

use crate::event;

/// Mailgun: the webhooks of a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mailgun(());

impl Mailgun {
    /// Take events that nobody signed, from whoever shows a token that Mailgun signed and nobody used before.
    pub const fn dangerous_unsigned_events() -> Self {
        Self(())
    }
}

impl Provider for Mailgun {
    type Identity = Relabelable;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, _head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Ok(Envelope::in_body(read))
    }

    fn sign(&self, _with: &Signing<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn enclose(&self, with: &Signing<'_>) -> Option<Vec<u8>> {
        let digest = with.event_id().into_owned();
        let token = digest.get(..TOKEN_LEN).filter(|token| is_token(token))?;
        let content = [Segment::Timestamp, Segment::text(token)];
        let tags = with.tags(Algorithm::HmacSha256, &content);
        let tag = tags.first().map(|SignedTag { tag, .. }| tag.to_hex())?;
        event::enclose(with.timestamp(), token, &tag, with.body())
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let identity = event::identity(verified)?;
        Ok([identity].into_iter().collect())
    }
}

fn read(body: UntrustedBody<'_>) -> Result<Envelope<'_>, Malformed> {
    let names = ["timestamp", "token", "signature"];
    let [Some(Cow::Borrowed(timestamp)), Some(token), Some(tag)] =
        body.texts(&["signature"], names)?
    else {
        return Err(Malformed::Body);
    };
    let timestamp = TimestampForm::Seconds.read(timestamp)?;
    let tag = Tag::from_hex(Algorithm::HmacSha256, &tag).ok_or(Malformed::Body)?;
    if !is_token(&token) {
        return Err(Malformed::Body);
    }
    Ok(Envelope::new([Segment::Timestamp, Segment::text(token)])
        .at(timestamp)
        .candidate(Candidate::unnamed(Algorithm::HmacSha256, tag)))
}

/// Timestamp and token are joined without a separator: were tokens of any length, a digit could move.
fn is_token(text: &str) -> bool {
    text.len() == TOKEN_LEN && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Documented: a text of this length.
pub(crate) const TOKEN_LEN: usize = 50;

static SPEC: Spec = Spec::timestamped("mailgun", Window::FIVE_MINUTES)
    .envelope_in_body()
    .redelivers(
        Redelivery::For(Duration::from_mins(10 + 10 + 15 + 30 + 60 * 7)),
        Redelivery::Unknown,
    )
    .resigns_on_retry(Resigns::Unknown);
