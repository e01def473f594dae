//! What a request's head claims about its signature. Nothing here is trusted yet.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::bounds::MAX_CANDIDATES;
use crate::head::Malformed;
use crate::identity::EventId;
use crate::timestamp::Timestamp;
use crate::{base64, hex};

/// A message authentication algorithm. More come with the providers that need them.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// HMAC with SHA-256, RFC 2104.
    HmacSha256,
}

/// The bytes of one signature, decoded.
#[derive(Debug, Clone, Copy)]
pub struct Tag {
    bytes: [u8; Self::CAPACITY],
    len: usize,
}

/// One signature the head offers.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'r> {
    pub(crate) algorithm: Algorithm,
    pub(crate) key_id: Option<&'r str>,
    pub(crate) tag: Tag,
}

/// A piece of the signed content, in order.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub enum Segment<'r> {
    /// The raw body.
    Body,
    /// These bytes: a literal, a header value, the URL. See [`Segment::bytes`].
    Bytes(Cow<'r, [u8]>),
    /// The envelope's event id.
    Id,
    /// The envelope's timestamp, as received.
    Timestamp,
}

/// A request's claim: perhaps a timestamp and an id, the candidate signatures, and which bytes are signed.
#[derive(Debug, Clone)]
pub struct Envelope<'r> {
    pub(crate) id: Option<EventId>,
    pub(crate) timestamp: Option<Timestamp<'r>>,
    pub(crate) candidates: SmallVec<[Candidate<'r>; 2]>,
    pub(crate) content: SmallVec<[Segment<'r>; 4]>,
}

impl Algorithm {
    /// Bytes of a signature.
    pub const fn tag_len(self) -> usize {
        match self {
            Self::HmacSha256 => 32,
        }
    }
}

impl Tag {
    const CAPACITY: usize = 64;

    /// Decode lower-case hex of exactly the algorithm's length.
    pub fn from_hex(algorithm: Algorithm, text: &str) -> Option<Self> {
        Self::decode(algorithm, text, hex::decode)
    }

    /// Decode standard base64 of exactly the algorithm's length, padded, with no unused bit set.
    pub fn from_base64(algorithm: Algorithm, text: &str) -> Option<Self> {
        Self::decode(algorithm, text, base64::decode)
    }

    /// The signature in lower-case hex.
    pub fn to_hex(&self) -> String {
        hex::encode(self.as_bytes())
    }

    /// The signature in standard base64.
    pub fn to_base64(&self) -> String {
        base64::encode(self.as_bytes())
    }

    pub(crate) fn from_hmac_sha256(mac: [u8; 32]) -> Self {
        let mut bytes = [0; Self::CAPACITY];
        bytes.iter_mut().zip(mac).for_each(|(to, from)| *to = from);
        Self {
            bytes,
            len: mac.len(),
        }
    }

    fn decode(
        algorithm: Algorithm,
        text: &str,
        decode: fn(&[u8], &mut [u8]) -> Option<()>,
    ) -> Option<Self> {
        let mut bytes = [0; Self::CAPACITY];
        let len = algorithm.tag_len();
        decode(text.as_bytes(), bytes.get_mut(..len)?)?;
        Some(Self { bytes, len })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&self.bytes)
    }
}

impl<'r> Segment<'r> {
    /// Bytes of the head or of the configuration, or made of both.
    pub fn bytes(bytes: impl Into<Cow<'r, [u8]>>) -> Self {
        Self::Bytes(bytes.into())
    }

    /// Text of the head or of the configuration, or made of both.
    pub fn text(text: impl Into<Cow<'r, str>>) -> Self {
        Self::Bytes(match text.into() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })
    }
}

impl<'r> Candidate<'r> {
    /// A signature any live key may have made.
    pub fn unnamed(algorithm: Algorithm, tag: Tag) -> Self {
        Self {
            algorithm,
            key_id: None,
            tag,
        }
    }

    /// A signature that only the key named `key_id` is tried for.
    pub fn by_key(algorithm: Algorithm, key_id: &'r str, tag: Tag) -> Self {
        Self {
            algorithm,
            key_id: Some(key_id),
            tag,
        }
    }
}

impl<'r> Envelope<'r> {
    /// An envelope over `content`. The body must stand in it exactly once.
    pub fn new(content: impl IntoIterator<Item = Segment<'r>>) -> Self {
        Self {
            id: None,
            timestamp: None,
            candidates: SmallVec::new(),
            content: content.into_iter().collect(),
        }
    }

    /// The timestamp the sender signed. It counts only if [`Segment::Timestamp`] is in the content.
    #[must_use]
    pub fn at(mut self, timestamp: Timestamp<'r>) -> Self {
        self.timestamp = Some(timestamp);
        self
    }

    /// The event id the sender signed. It counts only if [`Segment::Id`] is in the content.
    #[must_use]
    pub fn id(mut self, id: EventId) -> Self {
        self.id = Some(id);
        self
    }

    /// Offer one more signature.
    #[must_use]
    pub fn candidate(mut self, candidate: Candidate<'r>) -> Self {
        self.candidates.push(candidate);
        self
    }

    /// What no envelope may lack, whatever its provider.
    pub(crate) fn check(&self, timestamped: bool) -> Result<(), Malformed> {
        let (mut bodies, mut ids, mut stamps) = (0u8, 0u8, 0u8);
        for segment in &self.content {
            let count = match segment {
                Segment::Body => &mut bodies,
                Segment::Bytes(_) => continue,
                Segment::Id => &mut ids,
                Segment::Timestamp => &mut stamps,
            };
            *count = count.saturating_add(1);
        }
        if !(1..=MAX_CANDIDATES).contains(&self.candidates.len()) || bodies != 1 {
            return Err(Malformed::Candidates);
        }
        // An unsigned timestamp must never pass for a fresh one.
        if self.timestamp.is_some() != timestamped || (stamps == 1) != timestamped || stamps > 1 {
            return Err(Malformed::Timestamp);
        }
        // Nor an unsigned id for a signed one.
        if (ids == 1) != self.id.is_some() || ids > 1 {
            return Err(Malformed::Id);
        }
        Ok(())
    }
}
