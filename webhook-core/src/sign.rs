//! The signing dual of verification: fixtures, tools and outbound requests.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::algorithm::Algorithm;
use crate::envelope::Segment;
use crate::hex;
use crate::identity::EventId;
use crate::keyring::{Key, Keyring};
use crate::standing::Standing;
use crate::tag::Tag;
use crate::timestamp::Arrival;

/// What a provider is asked to sign. It hands out tags, never keys.
#[derive(Debug)]
pub struct Signing<'s> {
    keys: &'s Keyring,
    body: &'s [u8],
    unix_secs: i64,
    timestamp: String,
    target: &'s str,
    id: Option<EventId>,
    every_key: bool,
}

/// A signature and the id of the key that made it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SignedTag {
    /// The key's id, where it has one.
    pub key_id: Option<String>,
    /// The signature.
    pub tag: Tag,
}

impl<'s> Signing<'s> {
    /// Sign `body` at `unix_secs` with the first active key of `keys` that can sign.
    pub fn new(keys: &'s Keyring, body: &'s [u8], unix_secs: i64) -> Self {
        Self {
            keys,
            body,
            unix_secs,
            timestamp: unix_secs.to_string(),
            target: "/",
            id: None,
            every_key: false,
        }
    }

    /// Name the event, for schemes that sign its id beside the body.
    ///
    /// The id must be the same for every attempt, and fit the scheme: Standard Webhooks knows no `.` in it.
    #[must_use]
    pub fn id(mut self, id: EventId) -> Self {
        self.id = Some(id);
        self
    }

    /// Where it is sent by POST, path and query, for schemes that sign the URL. Default: `/`.
    #[must_use]
    pub fn to(mut self, target: &'s str) -> Self {
        self.target = target;
        self
    }

    /// Sign with every live key, as senders do while a key is rotated.
    #[must_use]
    pub fn with_every_key(mut self) -> Self {
        self.every_key = true;
        self
    }

    /// The event's id as it goes on the wire: the one given, else a digest of the body in hex.
    pub fn event_id(&self) -> Cow<'_, str> {
        match &self.id {
            Some(id) => Cow::Borrowed(id.as_str()),
            None => Cow::Owned(hex::encode(&Sha256::digest(self.body))),
        }
    }

    /// Path and query it is sent to.
    pub fn target(&self) -> &'s str {
        self.target
    }

    /// What is signed.
    pub fn body(&self) -> &'s [u8] {
        self.body
    }

    /// The moment of signing, in Unix seconds.
    pub fn unix_secs(&self) -> i64 {
        self.unix_secs
    }

    /// The timestamp as it goes on the wire, in Unix seconds: what [`Segment::Timestamp`] signs. Senders of another
    /// [`TimestampForm`](crate::TimestampForm) write their own and sign it as [`Segment::Bytes`].
    pub fn timestamp(&self) -> &str {
        &self.timestamp
    }

    /// Tags over `content`, the signing key's first: it is the first active one that can sign.
    ///
    /// Of keys of other algorithms there is none, nor of public keys whose private half is not configured:
    /// [`Keyring::ensure_signs`] tells.
    pub fn tags(&self, algorithm: Algorithm, content: &[Segment<'_>]) -> Vec<SignedTag> {
        let id = self.event_id();
        let Some(standing) = Standing::of(content).whole(self.body) else {
            return Vec::new();
        };
        let tag = |key: &Key| {
            let pieces = content.iter().map(|segment| match segment {
                Segment::Body | Segment::BodyCrc32 | Segment::BodyForm | Segment::BodySha256Hex => {
                    standing.as_ref()
                }
                Segment::Bytes(bytes) => bytes.as_ref(),
                Segment::Id => id.as_bytes(),
                Segment::Timestamp => self.timestamp.as_bytes(),
            });
            Some(SignedTag {
                key_id: key.id().map(|id| (**id).to_owned()),
                tag: key.material().sign(algorithm, pieces)?,
            })
        };
        if self.every_key {
            let live = self.keys.live(Arrival(self.unix_secs));
            live.filter_map(tag).collect()
        } else {
            self.keys.signer().and_then(tag).into_iter().collect()
        }
    }
}
