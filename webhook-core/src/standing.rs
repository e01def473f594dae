//! How the body stands in the signed content: as itself, or as something computed from the very bytes received.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::crc32::Crc32;
use crate::envelope::Segment;
use crate::form::Form;
use crate::hex;

/// What stands for the body, under way.
#[derive(Debug, Clone, Default)]
pub(crate) enum Standing {
    /// Its CRC-32.
    Crc32(Crc32),
    /// The parameters of the form that it is.
    Form,
    /// Itself: hashed as it arrives.
    #[default]
    Itself,
    /// Not at all.
    Nowhere,
    /// Its SHA-256.
    Sha256(Box<Sha256>),
}

impl Standing {
    /// How the body stands in `content`.
    #[inline]
    pub(crate) fn of(content: &[Segment<'_>]) -> Self {
        let mut standing = content.iter().filter_map(|segment| match segment {
            Segment::BodyCrc32 => Some(Self::Crc32(Crc32::default())),
            Segment::BodyForm => Some(Self::Form),
            Segment::Body => Some(Self::Itself),
            Segment::BodySha256Hex => Some(Self::Sha256(Box::default())),
            Segment::Bytes(_) | Segment::Id | Segment::Timestamp => None,
        });
        standing.next().unwrap_or(Self::Nowhere)
    }

    /// Whether content in which it stands so says what it is. A checksum does not: any body can be made to have it.
    pub(crate) fn is_binding(&self) -> bool {
        !matches!(self, Self::Crc32(_) | Self::Nowhere)
    }

    /// Take in the next piece; `true` if it is itself part of the content.
    #[inline]
    pub(crate) fn update(&mut self, chunk: &[u8]) -> bool {
        match self {
            Self::Crc32(crc) => crc.update(chunk),
            Self::Sha256(hash) => hash.update(chunk),
            Self::Form | Self::Itself | Self::Nowhere => {}
        }
        matches!(self, Self::Itself)
    }

    /// What is yet to stand in the content after all of `body` was taken in. `None` if it is not of that form.
    #[inline]
    pub(crate) fn finish(self, body: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Crc32(crc) => Some(crc.finish().to_string().into_bytes()),
            Self::Form => Form::read(body).map(|form| form.joined().into_bytes()),
            Self::Itself | Self::Nowhere => Some(Vec::new()),
            Self::Sha256(hash) => Some(hex::encode(&hash.finalize()).into_bytes()),
        }
    }

    /// What stands for a whole body.
    pub(crate) fn whole(self, body: &[u8]) -> Option<Cow<'_, [u8]>> {
        let mut standing = self;
        if standing.update(body) {
            return Some(Cow::Borrowed(body));
        }
        standing.finish(body).map(Cow::Owned)
    }
}
