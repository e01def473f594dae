//! The head of a request as the wire had it: method, target, header fields with every repeat.

use crate::bounds::{MAX_HEAD_BYTES, MAX_HEADER_FIELDS};

/// A request head, borrowed. Field values are bytes, order and repeats are kept.
///
/// Nothing in it is trusted. Adapters build one from their framework's header map.
#[derive(Debug, Clone)]
pub struct Head<'r> {
    method: &'r str,
    target: &'r str,
    // No `SmallVec`: it is invariant, and then a local `Head` could not be lent to `Verifier::finish`.
    fields: Vec<(&'r str, &'r [u8])>,
}

/// Why a head is no envelope of its provider's grammar.
///
/// For logs and counters. The sender only ever sees the one generic refusal.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The body is not of the form that its signature needs, or holds no envelope where one must stand.
    #[error("body does not follow its grammar")]
    Body,
    /// The value does not follow the provider's grammar.
    #[error("header `{0}` does not follow its grammar")]
    Grammar(&'static str),
    /// More header fields or bytes than [`crate::bounds`] allows.
    #[error("request head is too large")]
    HeadTooLarge,
    /// The header is absent.
    #[error("header `{0}` is missing")]
    Missing(&'static str),
    /// No candidate signature, or too many.
    #[error("number of candidate signatures is out of bounds")]
    Candidates,
    /// An id is claimed and not signed, or to be signed and not claimed.
    #[error("event id and signed content do not agree")]
    Id,
    /// The header belongs to another dialect of the scheme than one beside it.
    #[error("header `{0}` is of another dialect than the others")]
    Mixed(&'static str),
    /// The query of the target does not follow its grammar, or names a parameter twice.
    #[error("query does not follow its grammar")]
    Query,
    /// The header stands more than once where the grammar has one.
    #[error("header `{0}` is repeated")]
    Repeated(&'static str),
    /// The target is no path and query that could stand in a URL, or not below the configured path.
    #[error("request target is no path of the public URL")]
    Target,
    /// The timestamp is not a canonical decimal, or the provider requires one and none was signed.
    #[error("timestamp is not canonical")]
    Timestamp,
}

impl<'r> Head<'r> {
    /// Read a head.
    ///
    /// # Errors
    ///
    /// [`Malformed::HeadTooLarge`] beyond [`MAX_HEADER_FIELDS`] or [`MAX_HEAD_BYTES`].
    pub fn new(
        method: &'r str,
        target: &'r str,
        fields: impl IntoIterator<Item = (&'r str, &'r [u8])>,
    ) -> Result<Self, Malformed> {
        let mut kept = Vec::with_capacity(24);
        let mut bytes = 0usize;
        for (name, value) in fields {
            bytes = bytes.saturating_add(name.len()).saturating_add(value.len());
            if kept.len() == MAX_HEADER_FIELDS || bytes > MAX_HEAD_BYTES {
                return Err(Malformed::HeadTooLarge);
            }
            kept.push((name, value));
        }
        Ok(Self {
            method,
            target,
            fields: kept,
        })
    }

    /// The request method.
    pub fn method(&self) -> &'r str {
        self.method
    }

    /// Path and query as received.
    pub fn target(&self) -> &'r str {
        self.target
    }

    /// Every value of `name`, in wire order; names compare without case.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.fields
            .iter()
            .filter(move |(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }

    /// The only value of `name`, in visible ASCII and spaces.
    ///
    /// # Errors
    ///
    /// [`Malformed::Missing`], [`Malformed::Repeated`] or, for other bytes, [`Malformed::Grammar`].
    pub fn one(&self, name: &'static str) -> Result<&'r str, Malformed> {
        let value = self.only(name)?;
        // Without an early exit: many bytes at once.
        let visible = |all, byte: &u8| all & matches!(byte, b' '..=b'~');
        if !value.iter().fold(true, visible) {
            return Err(Malformed::Grammar(name));
        }
        std::str::from_utf8(value).map_err(|_| Malformed::Grammar(name))
    }

    /// The only value of `name`, in UTF-8 without control characters.
    ///
    /// # Errors
    ///
    /// As [`Head::one`].
    pub fn one_utf8(&self, name: &'static str) -> Result<&'r str, Malformed> {
        let value = std::str::from_utf8(self.only(name)?);
        value
            .ok()
            .filter(|text| !text.chars().any(char::is_control))
            .ok_or(Malformed::Grammar(name))
    }

    fn only(&self, name: &'static str) -> Result<&'r [u8], Malformed> {
        let mut values = self.all(name);
        let value = values.next().ok_or(Malformed::Missing(name))?;
        match values.next() {
            None => Ok(value),
            Some(_) => Err(Malformed::Repeated(name)),
        }
    }
}
