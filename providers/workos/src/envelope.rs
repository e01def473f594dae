//! The signature header, and what is known of WorkOS.

use webhook_core::{
    Algorithm, Candidate, Envelope, Head, Identities, InvalidEvent, Malformed, Provider,
    Redelivery, Resigns, Segment, Signed, Signing, Spec, Tag, Timestamp, TimestampForm, Verified,
    Window,
};

use crate::event;

/// WorkOS: events of directories, connections, users and organisations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct WorkOs;

impl Provider for WorkOs {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let mut envelope = Envelope::new([Segment::Timestamp, Segment::text("."), Segment::Body]);
        let mut stamped = false;
        for element in head.one(SIGNATURE)?.split(SEPARATOR) {
            let malformed = Malformed::Grammar(SIGNATURE);
            match element.split_once('=').ok_or(malformed)? {
                ("t", _) if stamped => return Err(malformed),
                ("t", text) => {
                    stamped = true;
                    envelope = envelope.at(Timestamp::millis(text)?);
                }
                ("v1", text) => {
                    if let Some(tag) = Tag::from_hex(ALGORITHM, text) {
                        envelope = envelope.candidate(Candidate::unnamed(ALGORITHM, tag));
                    }
                }
                _ => {} // another version is ignored
            }
        }
        Ok(envelope)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let stamp = TimestampForm::Millis.write(with.unix_secs());
        let content = [Segment::text(&*stamp), Segment::text("."), Segment::Body];
        let mut value = format!("t={stamp}");
        for signed in with.tags(ALGORITHM, &content) {
            value.push_str(SEPARATOR);
            value.push_str("v1=");
            value.push_str(&signed.tag.to_hex());
        }
        vec![(SIGNATURE, value)]
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let identity = event::identity(verified.body())?;
        Ok([identity].into_iter().collect())
    }
}

static SPEC: Spec = Spec::timestamped("workos", Window::both_sides(180))
    .payload_at(&["data"])
    .redelivers(Redelivery::Unknown, Redelivery::Unknown)
    .resigns_on_retry(Resigns::Unknown);

const SIGNATURE: &str = "workos-signature";
const SEPARATOR: &str = ", ";
const ALGORITHM: Algorithm = Algorithm::HmacSha256;
