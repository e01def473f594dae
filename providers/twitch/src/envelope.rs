//! The signature headers, and what is known of Twitch.

use webhook_core::{
    Algorithm, Candidate, Envelope, EventId, Handshake, Head, Identities, InvalidEvent, Malformed,
    Provider, Redelivery, Resigns, Segment, Signed, Signing, Spec, Tag, Timestamp, TimestampForm,
    Verified, Window,
};

use crate::event;

/// Twitch: EventSub subscriptions over webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct Twitch;

impl Provider for Twitch {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let tag = head.one(SIGNATURE)?.strip_prefix(PREFIX);
        let tag = tag.and_then(|text| Tag::from_hex(ALGORITHM, text));
        let tag = tag.ok_or(Malformed::Grammar(SIGNATURE))?;
        // Every timestamp holds a `:`, so that no id can reach into one.
        let id = Some(head.one(ID)?).filter(|id| !id.contains(':'));
        let id = id.and_then(|id| EventId::new(id).ok());
        let id = id.ok_or(Malformed::Grammar(ID))?;
        let timestamp = Timestamp::rfc3339(head.one(TIMESTAMP)?)?;
        Ok(
            Envelope::new([Segment::Id, Segment::Timestamp, Segment::Body])
                .id(id)
                .at(timestamp)
                .candidate(Candidate::unnamed(ALGORITHM, tag)),
        )
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let stamp = TimestampForm::Rfc3339.write(with.unix_secs());
        let content = [Segment::Id, Segment::text(&*stamp), Segment::Body];
        let signed = with.tags(ALGORITHM, &content);
        let tags = signed.first().map(|signed| signed.tag.to_hex());
        let value = format!("{PREFIX}{}", tags.unwrap_or_default());
        let id = with.event_id().into_owned();
        vec![(ID, id), (TIMESTAMP, stamp), (SIGNATURE, value)]
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let identity = event::identity(verified)?;
        Ok([identity].into_iter().collect())
    }

    fn handshake(&self, verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent> {
        event::handshake(verified.body())
    }
}

static SPEC: Spec = Spec::timestamped("twitch", Window::both_sides(600))
    .kept_headers(&["twitch-eventsub-message-retry"])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

const ID: &str = "twitch-eventsub-message-id";
const TIMESTAMP: &str = "twitch-eventsub-message-timestamp";
const SIGNATURE: &str = "twitch-eventsub-message-signature";
const PREFIX: &str = "sha256=";
const ALGORITHM: Algorithm = Algorithm::HmacSha256;
