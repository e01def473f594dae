//! What a request's head claims about its signature. Nothing here is trusted yet.

use std::borrow::Cow;
use std::mem::discriminant;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::algorithm::Algorithm;
use crate::bounds::{MAX_CANDIDATES, MAX_CONTENTS, MAX_KEYS};
use crate::head::Malformed;
use crate::identity::EventId;
use crate::standing::Standing;
use crate::tag::Tag;
use crate::timestamp::Timestamp;
use crate::untrusted::ReadBody;

/// One signature the head offers.
#[derive(Debug, Clone)]
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
    /// The CRC-32 of the raw body in decimal. No digest: whoever has one signed request can make any other body have it, and so
    /// [`Verified::body`](crate::Verified::body) is then empty.
    BodyCrc32,
    /// The parameters of the body, a form: each name and its value, sorted by their bytes, equal pairs once, joined
    /// without separators. See [`Form::joined`](crate::Form::joined).
    BodyForm,
    /// The SHA-256 of the raw body, in lower-case hex.
    BodySha256Hex,
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
    /// What may be signed. Almost always one.
    pub(crate) contents: SmallVec<[Content<'r>; 1]>,
    pub(crate) in_body: Option<ReadBody>,
    pub(crate) is_plain_token: bool,
    /// Boxed, as few have one and this is moved at every step.
    pub(crate) certificate: Option<Box<Cow<'r, str>>>,
}

/// What a plain token is turned into a MAC over.
const PLAIN_TOKEN: &str = "webhook plain token, version 1";

/// Signed content, in order.
pub(crate) type Content<'r> = SmallVec<[Segment<'r>; 4]>;

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

impl Segment<'_> {
    /// The bytes that stand before or after the body, or none where it stands itself.
    #[inline]
    pub(crate) fn beside_body<'s>(&'s self, id: &'s [u8], stamp: &'s [u8]) -> Option<&'s [u8]> {
        match self {
            Self::Body | Self::BodyCrc32 | Self::BodyForm | Self::BodySha256Hex => None,
            Self::Bytes(bytes) => Some(bytes),
            Self::Id => Some(id),
            Self::Timestamp => Some(stamp),
        }
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
    /// An envelope over `content`. The body must stand in it exactly once, as itself or as what is computed from it.
    pub fn new(content: impl IntoIterator<Item = Segment<'r>>) -> Self {
        let mut contents = SmallVec::new();
        contents.push(content.into_iter().collect());
        Self {
            id: None,
            timestamp: None,
            candidates: SmallVec::new(),
            contents,
            in_body: None,
            is_plain_token: false,
            certificate: None,
        }
    }

    /// The signature stands in the body: `read` is asked once that is there. For providers whose
    /// [`Spec::envelope_in_body`](crate::Spec::envelope_in_body) says so.
    ///
    /// The envelope that it returns is over members of the body, and what is verified is their text alone: that is then
    /// [`Verified::body`](crate::Verified::body).
    pub fn in_body(read: ReadBody) -> Self {
        Self {
            in_body: Some(read),
            ..Self::new([])
        }
    }

    /// Nothing is signed: the sender shows `token`, which is the secret itself. For providers whose
    /// [`Spec::plain_token`](crate::Spec::plain_token) says so.
    ///
    /// Whoever has seen one request knows the secret, and can send any other. The token is compared with each live key in constant
    /// time; no byte of the body is authentic, and [`Verified::body`](crate::Verified::body) is empty.
    pub fn dangerous_plain_token(token: &str) -> Self {
        // Equal keys, and no others, have equal MACs over one text: nothing but a MAC is ever compared.
        let tag = Tag::of_plain_token(token, PLAIN_TOKEN.as_bytes());
        Self {
            is_plain_token: true,
            ..Self::new([Segment::text(PLAIN_TOKEN)])
        }
        .candidate(Candidate::unnamed(Algorithm::HmacSha256, tag))
    }

    /// It says that the certificate at this URL verifies it: a stranger's word. An endpoint whose keys are configured does not
    /// look at it; a [`KeySource`](crate::KeySource) is asked with [`KeyQuery::certificate`](crate::KeyQuery::certificate).
    #[must_use]
    pub fn certified_at(mut self, url: impl Into<Cow<'r, str>>) -> Self {
        self.certificate = Some(Box::new(url.into()));
        self
    }

    /// Or `content` is what was signed, for senders that are not of one mind. The body stands in all contents alike.
    #[must_use]
    pub fn or(mut self, content: impl IntoIterator<Item = Segment<'r>>) -> Self {
        self.contents.push(content.into_iter().collect());
        self
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
        let bodies = u8::from(!self.is_plain_token);
        self.check_over(bodies, timestamped)
    }

    /// What no envelope that was read from a body may lack. Returns the text it is over.
    pub(crate) fn check_in_body(&self, timestamped: bool) -> Result<Bytes, Malformed> {
        // The body cannot be signed by what stands in it.
        self.check_over(0, timestamped)?;
        let (false, [content]) = (self.is_plain_token, &self.contents[..]) else {
            return Err(Malformed::Candidates);
        };
        let mut text = Vec::new();
        for segment in content {
            match segment {
                Segment::Body | Segment::BodyCrc32 | Segment::BodyForm | Segment::BodySha256Hex => {
                } // there is none
                Segment::Bytes(bytes) => text.extend_from_slice(bytes),
                Segment::Id => text.extend(self.id.iter().flat_map(|id| id.as_str().bytes())),
                Segment::Timestamp => {
                    text.extend(self.timestamp.iter().flat_map(|at| at.text().bytes()));
                }
            }
        }
        Ok(text.into())
    }

    #[inline]
    fn check_over(&self, bodies: u8, timestamped: bool) -> Result<(), Malformed> {
        let public = self
            .candidates
            .iter()
            .filter(|one| one.algorithm.is_public());
        let is_bounded = (1..=MAX_CANDIDATES).contains(&self.candidates.len())
            && public.count() <= MAX_KEYS
            && (1..=MAX_CONTENTS).contains(&self.contents.len());
        if !is_bounded || self.in_body.is_some() {
            return Err(Malformed::Candidates);
        }
        if let [first, others @ ..] = &self.contents[..]
            && !others.is_empty()
        {
            let standing = |content| discriminant(&Standing::of(content));
            let first = standing(first);
            if others.iter().any(|other| standing(other) != first) {
                return Err(Malformed::Candidates);
            }
        }
        let mut contents = self.contents.iter();
        contents.try_for_each(|content| self.check_content(content, bodies, timestamped))
    }

    #[inline]
    fn check_content(
        &self,
        content: &[Segment<'_>],
        bodies: u8,
        timestamped: bool,
    ) -> Result<(), Malformed> {
        let (mut found, mut ids, mut stamps) = (0u8, 0u8, 0u8);
        for segment in content {
            let count = match segment {
                Segment::Body | Segment::BodyCrc32 | Segment::BodyForm | Segment::BodySha256Hex => {
                    &mut found
                }
                Segment::Bytes(_) => continue,
                Segment::Id => &mut ids,
                Segment::Timestamp => &mut stamps,
            };
            *count = count.saturating_add(1);
        }
        if found != bodies || content.is_empty() {
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
