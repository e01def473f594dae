//! The signing dual of verification: fixtures, tools and outbound requests.

use hmac::Mac;

use crate::envelope::{Algorithm, Segment};
use crate::hex;
use crate::keyring::{Key, Keyring};
use crate::timestamp::Arrival;

/// What a provider is asked to sign. It hands out tags, never keys.
#[derive(Debug)]
pub struct Signing<'s> {
    keys: &'s Keyring,
    body: &'s [u8],
    unix_secs: i64,
    timestamp: String,
    every_key: bool,
}

/// A signature in lower-case hex and the id of the key that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedTag {
    /// The key's id, where it has one.
    pub key_id: Option<String>,
    /// The tag.
    pub hex: String,
}

impl<'s> Signing<'s> {
    /// Sign `body` at `unix_secs` with the active key of `keys`.
    pub fn new(keys: &'s Keyring, body: &'s [u8], unix_secs: i64) -> Self {
        Self {
            keys,
            body,
            unix_secs,
            timestamp: unix_secs.to_string(),
            every_key: false,
        }
    }

    /// Sign with every live key, as senders do while a key is rotated.
    #[must_use]
    pub fn with_every_key(mut self) -> Self {
        self.every_key = true;
        self
    }

    /// The timestamp as it goes on the wire.
    pub fn timestamp(&self) -> &str {
        &self.timestamp
    }

    /// Tags over `content`, the active key's first.
    pub fn tags(&self, algorithm: Algorithm, content: &[Segment<'_>]) -> Vec<SignedTag> {
        let tag = |key: &Key| SignedTag {
            key_id: key.id().map(|id| (**id).to_owned()),
            hex: self.tag(key, algorithm, content),
        };
        if self.every_key {
            self.keys.live(Arrival(self.unix_secs)).map(tag).collect()
        } else {
            self.keys.active().map(tag).into_iter().collect()
        }
    }

    fn tag(&self, key: &Key, algorithm: Algorithm, content: &[Segment<'_>]) -> String {
        let Algorithm::HmacSha256 = algorithm;
        let mut mac = key.hmac_sha256();
        for segment in content {
            mac.update(match segment {
                Segment::Body => self.body,
                Segment::Bytes(bytes) => bytes,
                Segment::Timestamp => self.timestamp.as_bytes(),
            });
        }
        hex::encode(&mac.finalize().into_bytes())
    }
}
