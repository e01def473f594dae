//! Signature headers as a table: one row reads and writes a provider's scheme.

use smallvec::SmallVec;

use crate::bounds::MAX_CANDIDATES;
use crate::envelope::{Algorithm, Candidate, Envelope, Segment, Tag};
use crate::head::{Head, Malformed};
use crate::keyring::is_key_id;
use crate::sign::Signing;
use crate::timestamp::Timestamp;

/// A scheme of one signature header, and perhaps a timestamp header, in lower-case hex.
///
/// Schemes off this road write `envelope` and `sign` by hand.
#[derive(Debug, Clone, Copy)]
pub struct Wire {
    header: &'static str,
    grammar: Grammar,
    timestamp_header: Option<&'static str>,
    algorithm: Algorithm,
    content: &'static [Part],
}

/// The grammar of a signature header.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub enum Grammar {
    /// `kid=hex` elements parted by the separator, no id twice, or a single bare `hex`.
    Keyed {
        /// Between elements.
        separator: char,
    },
    /// `name=value` elements parted by the separator: one timestamp, signatures, others ignored.
    Pairs {
        /// Between elements.
        separator: char,
        /// The name of the only timestamp element.
        timestamp: &'static str,
        /// The name of signature elements.
        tag: &'static str,
    },
    /// Exactly one signature after this prefix.
    Prefixed(&'static str),
}

/// A piece of signed content, in order.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// The raw body.
    Body,
    /// This text.
    Literal(&'static str),
    /// The timestamp as received.
    Timestamp,
}

impl Wire {
    /// HMAC-SHA256 in lower-case hex, in `header`, over `content`.
    pub const fn hmac_sha256(
        header: &'static str,
        grammar: Grammar,
        content: &'static [Part],
    ) -> Self {
        Self {
            header,
            grammar,
            timestamp_header: None,
            algorithm: Algorithm::HmacSha256,
            content,
        }
    }

    /// The timestamp stands in a header of its own.
    #[must_use]
    pub const fn timestamp_header(mut self, name: &'static str) -> Self {
        self.timestamp_header = Some(name);
        self
    }

    /// Read the envelope.
    ///
    /// A signature element that is not a tag is skipped, so that one malformed candidate cannot
    /// take down the good one beside it; a header without any tag, or of another structure, is refused.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn read<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let value = head.one(self.header)?;
        let mut envelope = Envelope::new(self.segments());
        if let Some(name) = self.timestamp_header {
            envelope.timestamp = Some(Timestamp::seconds(head.one(name)?)?);
        }
        match self.grammar {
            Grammar::Keyed { separator } => self.read_keyed(&mut envelope, value, separator)?,
            Grammar::Pairs {
                separator,
                timestamp,
                tag,
            } => self.read_pairs(&mut envelope, value, separator, timestamp, tag)?,
            Grammar::Prefixed(prefix) => {
                let hex = value.strip_prefix(prefix).ok_or(self.malformed())?;
                let tag = Tag::from_hex(self.algorithm, hex).ok_or(self.malformed())?;
                self.offer(&mut envelope, Candidate::unnamed(self.algorithm, tag))?;
            }
        }
        Ok(envelope)
    }

    /// Write the headers that [`Wire::read`] reads.
    pub fn write(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let content: SmallVec<[Segment<'_>; 4]> = self.segments().collect();
        let tags = with.tags(self.algorithm, &content);
        let value = match self.grammar {
            Grammar::Keyed { separator } => {
                let element = |tag: &crate::sign::SignedTag| match &tag.key_id {
                    Some(id) => format!("{id}={}", tag.hex),
                    None => tag.hex.clone(),
                };
                join(tags.iter().map(element), separator)
            }
            Grammar::Pairs {
                separator,
                timestamp,
                tag: name,
            } => {
                let stamp = format!("{timestamp}={}", with.timestamp());
                let tags = tags.iter().map(|tag| format!("{name}={}", tag.hex));
                join(std::iter::once(stamp).chain(tags), separator)
            }
            Grammar::Prefixed(prefix) => tags
                .first()
                .map(|tag| format!("{prefix}{}", tag.hex))
                .unwrap_or_default(),
        };
        let stamp = self
            .timestamp_header
            .map(|name| (name, with.timestamp().to_owned()));
        stamp.into_iter().chain([(self.header, value)]).collect()
    }

    fn read_pairs<'r>(
        &self,
        envelope: &mut Envelope<'r>,
        value: &'r str,
        separator: char,
        timestamp: &str,
        tag: &str,
    ) -> Result<(), Malformed> {
        for element in value.split(separator) {
            let (name, text) = element.split_once('=').ok_or(self.malformed())?;
            if name == timestamp {
                if envelope.timestamp.is_some() {
                    return Err(self.malformed());
                }
                envelope.timestamp = Some(Timestamp::seconds(text)?);
            } else if name == tag
                && let Some(tag) = Tag::from_hex(self.algorithm, text)
            {
                self.offer(envelope, Candidate::unnamed(self.algorithm, tag))?;
            }
        }
        Ok(())
    }

    fn read_keyed<'r>(
        &self,
        envelope: &mut Envelope<'r>,
        value: &'r str,
        separator: char,
    ) -> Result<(), Malformed> {
        if !value.contains(['=', separator]) {
            let tag = Tag::from_hex(self.algorithm, value).ok_or(self.malformed())?;
            return self.offer(envelope, Candidate::unnamed(self.algorithm, tag));
        }
        let mut seen: SmallVec<[&str; 4]> = SmallVec::new();
        for element in value.split(separator) {
            let (id, text) = element.split_once('=').ok_or(self.malformed())?;
            if !is_key_id(id) || seen.contains(&id) || seen.len() == MAX_CANDIDATES {
                return Err(self.malformed());
            }
            seen.push(id);
            if let Some(tag) = Tag::from_hex(self.algorithm, text) {
                self.offer(envelope, Candidate::by_key(self.algorithm, id, tag))?;
            }
        }
        Ok(())
    }

    fn offer<'r>(
        &self,
        envelope: &mut Envelope<'r>,
        candidate: Candidate<'r>,
    ) -> Result<(), Malformed> {
        if envelope.candidates.len() == MAX_CANDIDATES {
            return Err(self.malformed());
        }
        envelope.candidates.push(candidate);
        Ok(())
    }

    fn segments<'a>(&self) -> impl Iterator<Item = Segment<'a>> + use<'a> {
        self.content.iter().map(|part| match part {
            Part::Body => Segment::Body,
            Part::Literal(text) => Segment::Bytes(text.as_bytes()),
            Part::Timestamp => Segment::Timestamp,
        })
    }

    const fn malformed(&self) -> Malformed {
        Malformed::Grammar(self.header)
    }
}

fn join(elements: impl Iterator<Item = String>, separator: char) -> String {
    let mut joined = String::new();
    for element in elements {
        if !joined.is_empty() {
            joined.push(separator);
        }
        joined.push_str(&element);
    }
    joined
}
