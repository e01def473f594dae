//! Key material in memory.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// Secret bytes. Zeroised when dropped; prints as `[redacted]`.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Take `bytes` as they are.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// Whether `text` is this secret, in a time that depends on the length of `text` alone. An empty secret is nobody's.
    ///
    /// For shared words such as the token of a handshake. No signature is compared with it.
    pub fn is(&self, text: &[u8]) -> bool {
        // Digests have one length, so that nothing tells how much of a guess was right.
        let [own, other] = [&self.0[..], text].map(Sha256::digest);
        bool::from(own[..].ct_eq(&other[..])) & !self.0.is_empty()
    }

    pub(crate) fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_is_it() {
        let secret = Secret::from("canary-token");
        assert!(secret.is(b"canary-token"));
        for other in [&b""[..], b"canary", b"canary-token ", b"Canary-token"] {
            assert!(!secret.is(other));
        }
        assert!(!Secret::from("").is(b""));
    }
}
