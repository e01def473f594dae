//! The bytes of a signature.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use smallvec::SmallVec;

use crate::algorithm::Algorithm;
use crate::{base64, hex};

/// The bytes of one signature, decoded.
#[derive(Debug, Clone)]
pub struct Tag(SmallVec<[u8; Self::INLINE]>);

impl Tag {
    /// The longest MAC. Longer signatures are allocated, which is nothing beside checking them.
    const INLINE: usize = 32;

    /// Decode lower-case hex of exactly the algorithm's length.
    pub fn from_hex(algorithm: Algorithm, text: &str) -> Option<Self> {
        let len = text.len() / 2;
        Self::decode(algorithm, text, len, hex::decode)
    }

    /// Decode standard base64 of exactly the algorithm's length, padded, with no unused bit set.
    pub fn from_base64(algorithm: Algorithm, text: &str) -> Option<Self> {
        let len = base64::decoded_len(text.as_bytes());
        Self::decode(algorithm, text, len, base64::decode)
    }

    /// The signature in lower-case hex.
    pub fn to_hex(&self) -> String {
        hex::encode(self.as_bytes())
    }

    /// The signature in standard base64.
    pub fn to_base64(&self) -> String {
        base64::encode(self.as_bytes())
    }

    /// The MAC of `text` under a token that was shown in plain.
    pub(crate) fn of_plain_token(token: &str, text: &[u8]) -> Self {
        #[expect(
            clippy::expect_used,
            reason = "HMAC takes keys of every length, RFC 2104 section 2"
        )]
        let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).expect("HMAC takes any key");
        mac.update(text);
        Self::from_bytes(&mac.finalize().into_bytes())
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self(SmallVec::from_slice(bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn decode(
        algorithm: Algorithm,
        text: &str,
        len: usize,
        decode: fn(&[u8], &mut [u8]) -> Option<()>,
    ) -> Option<Self> {
        if !algorithm.tag_lens().contains(&len) {
            return None;
        }
        let mut bytes = match len {
            Self::INLINE => SmallVec::from_buf([0; Self::INLINE]),
            len => SmallVec::from_elem(0, len),
        };
        decode(text.as_bytes(), &mut bytes)?;
        Some(Self(bytes))
    }
}
