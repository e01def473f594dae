//! What a request's head claims about its signature. Nothing here is trusted yet.

use smallvec::SmallVec;

use crate::bounds::MAX_CANDIDATES;
use crate::head::Malformed;
use crate::hex;
use crate::timestamp::Timestamp;

/// A message authentication algorithm. More come with the providers that need them.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// HMAC with SHA-256, RFC 2104.
    HmacSha256,
}

/// The bytes of one candidate signature, decoded.
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
#[derive(Debug, Clone, Copy)]
pub enum Segment<'r> {
    /// The raw body.
    Body,
    /// These bytes: a literal, a header value, the URL.
    Bytes(&'r [u8]),
    /// The envelope's timestamp, as received.
    Timestamp,
}

/// A request's claim: perhaps a timestamp, the candidate signatures, and which bytes are signed.
#[derive(Debug, Clone)]
pub struct Envelope<'r> {
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
        let mut bytes = [0; Self::CAPACITY];
        let len = algorithm.tag_len();
        hex::decode(text.as_bytes(), bytes.get_mut(..len)?)?;
        Some(Self { bytes, len })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&self.bytes)
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

    /// Offer one more signature.
    #[must_use]
    pub fn candidate(mut self, candidate: Candidate<'r>) -> Self {
        self.candidates.push(candidate);
        self
    }

    /// What no envelope may lack, whatever its provider.
    pub(crate) fn check(&self, timestamped: bool) -> Result<(), Malformed> {
        let segments = self.content.iter();
        let bodies = segments
            .clone()
            .filter(|one| matches!(one, Segment::Body))
            .count();
        let stamps = segments
            .filter(|one| matches!(one, Segment::Timestamp))
            .count();
        if !(1..=MAX_CANDIDATES).contains(&self.candidates.len()) || bodies != 1 {
            return Err(Malformed::Candidates);
        }
        // An unsigned timestamp must never pass for a fresh one.
        if self.timestamp.is_some() != timestamped || (stamps == 1) != timestamped || stamps > 1 {
            return Err(Malformed::Timestamp);
        }
        Ok(())
    }
}
