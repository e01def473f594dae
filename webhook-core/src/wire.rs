//! Signature headers as a table: one row reads and writes a provider's scheme.

use smallvec::SmallVec;

use crate::algorithm::Algorithm;
use crate::bounds::MAX_CANDIDATES;
use crate::envelope::{Candidate, Envelope, Segment};
use crate::head::{Head, Malformed};
use crate::identity::EventId;
use crate::keyring::is_key_id;
use crate::sign::{SignedTag, Signing};
use crate::tag::Tag;
use crate::timestamp::TimestampForm;

/// A scheme of one signature header, and perhaps headers for a timestamp and an event id.
///
/// Schemes off this road write `envelope` and `sign` by hand.
#[derive(Debug, Clone, Copy)]
pub struct Wire {
    header: &'static str,
    grammar: Grammar,
    timestamp_header: Option<&'static str>,
    id_header: Option<&'static str>,
    form: TimestampForm,
    algorithm: Algorithm,
    also: Option<(&'static str, Algorithm)>,
    encoding: Encoding,
    content: &'static [Part],
}

/// How a signature is written.
#[derive(Debug, Clone, Copy)]
enum Encoding {
    Base64,
    Hex,
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
    /// `version‖mark‖signature` elements parted by the separator, other versions ignored.
    Versioned {
        /// Between elements.
        separator: char,
        /// Between an element's version and its signature.
        mark: char,
        /// The version of signature elements.
        version: &'static str,
    },
}

/// A piece of signed content, in order.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// The raw body.
    Body,
    /// The event id as received. A [`Part::Literal`] must follow, which ids then cannot contain:
    /// else bytes could move from one part to the other under one signature.
    Id,
    /// This text.
    Literal(&'static str),
    /// The timestamp as received.
    Timestamp,
}

impl Wire {
    /// HMAC-SHA256 in lower-case hex, in `header`, over `content`.
    ///
    /// # Panics
    ///
    /// As [`Wire::new`].
    pub const fn hmac_sha256(
        header: &'static str,
        grammar: Grammar,
        content: &'static [Part],
    ) -> Self {
        Self::new(Algorithm::HmacSha256, header, grammar, content)
    }

    /// Signatures of `algorithm` in lower-case hex, in `header`, over `content`.
    ///
    /// # Panics
    ///
    /// If an id in `content` has no literal after it, or stands right behind the body or the timestamp; in a `const`, at
    /// compile time.
    pub const fn new(
        algorithm: Algorithm,
        header: &'static str,
        grammar: Grammar,
        content: &'static [Part],
    ) -> Self {
        assert!(
            ids_end(content),
            "a literal must follow the id, and stand before it unless it is first"
        );
        Self {
            header,
            grammar,
            timestamp_header: None,
            id_header: None,
            form: TimestampForm::Seconds,
            algorithm,
            also: None,
            encoding: Encoding::Hex,
            content,
        }
    }

    /// Signatures are standard base64 with padding.
    #[must_use]
    pub const fn base64(mut self) -> Self {
        self.encoding = Encoding::Base64;
        self
    }

    /// Elements of another version of [`Grammar::Versioned`] are signatures of another algorithm.
    #[must_use]
    pub const fn also(mut self, version: &'static str, algorithm: Algorithm) -> Self {
        self.also = Some((version, algorithm));
        self
    }

    /// The timestamp stands in a header of its own.
    #[must_use]
    pub const fn timestamp_header(mut self, name: &'static str) -> Self {
        self.timestamp_header = Some(name);
        self
    }

    /// Timestamps are spelled so. Default: Unix seconds.
    #[must_use]
    pub const fn timestamps(mut self, form: TimestampForm) -> Self {
        self.form = form;
        self
    }

    /// The event id stands in a header of its own: UTF-8, as [`EventId`] wants it.
    #[must_use]
    pub const fn id_header(mut self, name: &'static str) -> Self {
        self.id_header = Some(name);
        self
    }

    /// Read the envelope in the dialect whose headers are there: one scheme under several names.
    ///
    /// # Errors
    ///
    /// [`Malformed::Mixed`] for headers of two dialects; without any, as [`Wire::read`] of the first.
    pub fn read_any<'r>(dialects: &[Self], head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let mut found: Option<&Self> = None;
        for wire in dialects {
            match (wire.first_of_mine(head), found) {
                (None, _) => {}
                (Some(_), None) => found = Some(wire),
                (Some(name), Some(_)) => return Err(Malformed::Mixed(name)),
            }
        }
        let wire = found.or(dialects.first()).ok_or(Malformed::Candidates)?;
        wire.read(head)
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
            envelope.timestamp = Some(self.form.read(head.one(name)?)?);
        }
        if let Some(name) = self.id_header {
            envelope.id = Some(self.read_id(head, name)?);
        }
        match self.grammar {
            Grammar::Keyed { separator } => self.read_keyed(&mut envelope, value, separator)?,
            Grammar::Pairs {
                separator,
                timestamp,
                tag,
            } => self.read_pairs(&mut envelope, value, separator, timestamp, tag)?,
            Grammar::Prefixed(prefix) => {
                let text = value.strip_prefix(prefix).ok_or(self.malformed())?;
                let tag = self.decode(self.algorithm, text).ok_or(self.malformed())?;
                self.offer(&mut envelope, Candidate::unnamed(self.algorithm, tag))?;
            }
            Grammar::Versioned {
                separator,
                mark,
                version,
            } => self.read_versioned(&mut envelope, value, separator, mark, version)?,
        }
        Ok(envelope)
    }

    /// Write the headers that [`Wire::read`] reads.
    pub fn write(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let stamp = self.form.write(with.unix_secs());
        let content = self.segments().map(|segment| match segment {
            Segment::Timestamp => Segment::text(&*stamp),
            other => other,
        });
        let content: SmallVec<[Segment<'_>; 4]> = content.collect();
        let signed = with.tags(self.algorithm, &content);
        let mut tags = signed.iter().map(|signed| self.encode(&signed.tag));
        let value = match self.grammar {
            Grammar::Keyed { separator } => {
                let element = |(signed, tag): (&SignedTag, String)| match &signed.key_id {
                    Some(id) => format!("{id}={tag}"),
                    None => tag,
                };
                join(signed.iter().zip(tags).map(element), separator)
            }
            Grammar::Pairs {
                separator,
                timestamp,
                tag: name,
            } => {
                let first = format!("{timestamp}={stamp}");
                let tags = tags.map(|tag| format!("{name}={tag}"));
                join(std::iter::once(first).chain(tags), separator)
            }
            Grammar::Prefixed(prefix) => tags
                .next()
                .map(|tag| format!("{prefix}{tag}"))
                .unwrap_or_default(),
            Grammar::Versioned {
                separator,
                mark,
                version,
            } => {
                let tags = tags.map(|tag| format!("{version}{mark}{tag}"));
                let also = self.also.into_iter().flat_map(|(version, algorithm)| {
                    let others = with.tags(algorithm, &content);
                    others.into_iter().map(move |signed| (version, signed.tag))
                });
                let also = also.map(|(version, tag)| {
                    let tag = self.encode(&tag);
                    format!("{version}{mark}{tag}")
                });
                join(tags.chain(also), separator)
            }
        };
        let id = self
            .id_header
            .map(|name| (name, with.event_id().into_owned()));
        let stamp = self.timestamp_header.map(|name| (name, stamp.clone()));
        let signature = Some((self.header, value));
        [id, stamp, signature].into_iter().flatten().collect()
    }

    fn read_id(&self, head: &Head<'_>, name: &'static str) -> Result<EventId, Malformed> {
        let text = head.one_utf8(name)?;
        let ends_early = self.content.array_windows().any(|parts| match parts {
            [Part::Id, Part::Literal(end)] => text.contains(end),
            _ => false,
        });
        match EventId::new(text) {
            Ok(id) if !ends_early => Ok(id),
            _ => Err(Malformed::Grammar(name)),
        }
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
                envelope.timestamp = Some(self.form.read(text)?);
            } else if name == tag
                && let Some(tag) = self.decode(self.algorithm, text)
            {
                self.offer(envelope, Candidate::unnamed(self.algorithm, tag))?;
            }
        }
        Ok(())
    }

    fn read_versioned<'r>(
        &self,
        envelope: &mut Envelope<'r>,
        value: &'r str,
        separator: char,
        mark: char,
        version: &str,
    ) -> Result<(), Malformed> {
        for element in value.split(separator) {
            let (name, text) = element.split_once(mark).ok_or(self.malformed())?;
            let own = (version, self.algorithm);
            let mut versions = std::iter::once(own).chain(self.also);
            if let Some((_, algorithm)) = versions.find(|(known, _)| *known == name)
                && let Some(tag) = self.decode(algorithm, text)
            {
                self.offer(envelope, Candidate::unnamed(algorithm, tag))?;
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
            let tag = self.decode(self.algorithm, value).ok_or(self.malformed())?;
            return self.offer(envelope, Candidate::unnamed(self.algorithm, tag));
        }
        let mut seen: SmallVec<[&str; 4]> = SmallVec::new();
        for element in value.split(separator) {
            let (id, text) = element.split_once('=').ok_or(self.malformed())?;
            if !is_key_id(id) || seen.contains(&id) || seen.len() == MAX_CANDIDATES {
                return Err(self.malformed());
            }
            seen.push(id);
            if let Some(tag) = self.decode(self.algorithm, text) {
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
            Part::Id => Segment::Id,
            Part::Literal(text) => Segment::text(*text),
            Part::Timestamp => Segment::Timestamp,
        })
    }

    /// The first of this scheme's headers that stands in `head`.
    fn first_of_mine(&self, head: &Head<'_>) -> Option<&'static str> {
        let names = [Some(self.header), self.timestamp_header, self.id_header];
        let mut names = names.into_iter().flatten();
        names.find(|name| head.all(name).next().is_some())
    }

    fn decode(&self, algorithm: Algorithm, text: &str) -> Option<Tag> {
        match self.encoding {
            Encoding::Base64 => Tag::from_base64(algorithm, text),
            Encoding::Hex => Tag::from_hex(algorithm, text),
        }
    }

    fn encode(&self, tag: &Tag) -> String {
        match self.encoding {
            Encoding::Base64 => tag.to_base64(),
            Encoding::Hex => tag.to_hex(),
        }
    }

    const fn malformed(&self) -> Malformed {
        Malformed::Grammar(self.header)
    }
}

/// Whether a literal follows each id, and nothing of the sender's making stands right before it.
const fn ids_end(content: &[Part]) -> bool {
    let mut rest = content;
    while let [first, others @ ..] = rest {
        if matches!(first, Part::Id) && !matches!(others, [Part::Literal(_), ..]) {
            return false;
        }
        if matches!(
            (first, others),
            (Part::Body | Part::Timestamp, [Part::Id, ..])
        ) {
            return false;
        }
        rest = others;
    }
    true
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

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: Grammar = Grammar::Versioned {
        separator: ',',
        mark: '=',
        version: "v1",
    };

    #[test]
    #[should_panic(expected = "a literal must follow the id")]
    fn an_id_begins_behind_a_literal() {
        let content = &[Part::Body, Part::Id, Part::Literal(".")];
        let _ = Wire::hmac_sha256("x", LIST, content);
    }

    #[test]
    #[should_panic(expected = "a literal must follow the id")]
    fn an_id_ends_at_a_literal() {
        let _ = Wire::hmac_sha256("x", LIST, &[Part::Literal("."), Part::Id, Part::Body]);
    }

    #[test]
    fn other_versions_and_broken_tags_are_skipped_and_broken_structure_is_not() {
        let wire = Wire::hmac_sha256("x-signature", LIST, &[Part::Body]);
        let hex = "0".repeat(64);
        let candidates = |value: &str| {
            let fields = [("x-signature", value.as_bytes())];
            let head = Head::new("POST", "/", fields).unwrap();
            wire.read(&head).map(|envelope| envelope.candidates.len())
        };
        assert_eq!(
            candidates(&format!("v1={hex},v0=?,v1={hex}=,v1={hex}")),
            Ok(2)
        );
        assert_eq!(candidates(&format!("v0={hex}")), Ok(0));
        for broken in ["", "v1", ",", &format!("v1={hex},"), &hex] {
            assert_eq!(candidates(broken), Err(wire.malformed()), "{broken}");
        }
        let many = vec![format!("v1={hex}"); MAX_CANDIDATES + 1].join(",");
        assert_eq!(candidates(&many), Err(wire.malformed()));
    }
}
