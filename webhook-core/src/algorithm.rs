//! How signatures are made.

use std::ops::RangeInclusive;

/// A signature algorithm.
///
/// HMAC-SHA256 is always there, the others with a feature: who receives from Stripe compiles none of them.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// ECDSA on P-256 with SHA-256 (FIPS 186-5), ASN.1 DER as in RFC 3279 section 2.2.3.
    ///
    /// Anybody can make a second signature of one, so that a signature is no identity.
    #[cfg(feature = "public-keys")]
    EcdsaP256Sha256,
    /// Ed25519, RFC 8032, strictly: `S` below the group's order, neither key nor `R` of small order.
    #[cfg(feature = "public-keys")]
    Ed25519,
    /// HMAC with SHA-1, RFC 2104. Collisions of SHA-1 do not break it; nothing new should use it.
    #[cfg(feature = "sha1")]
    HmacSha1,
    /// HMAC with SHA-256, RFC 2104.
    HmacSha256,
    /// RSA PKCS#1 v1.5 with SHA-256, RFC 8017 section 8.2, with keys of 2048 to 4096 bits.
    #[cfg(feature = "public-keys")]
    RsaPkcs1Sha256,
}

impl Algorithm {
    /// Whether keys of it are public: checking a signature then costs more than a MAC, for each one anew.
    pub(crate) const fn is_public(self) -> bool {
        match self {
            #[cfg(feature = "sha1")]
            Self::HmacSha1 => false,
            Self::HmacSha256 => false,
            #[cfg(feature = "public-keys")]
            Self::EcdsaP256Sha256 | Self::Ed25519 | Self::RsaPkcs1Sha256 => true,
        }
    }

    /// Bytes of a signature.
    pub const fn tag_lens(self) -> RangeInclusive<usize> {
        match self {
            #[cfg(feature = "public-keys")]
            Self::EcdsaP256Sha256 => 8..=72,
            #[cfg(feature = "public-keys")]
            Self::Ed25519 => 64..=64,
            #[cfg(feature = "sha1")]
            Self::HmacSha1 => 20..=20,
            Self::HmacSha256 => 32..=32,
            #[cfg(feature = "public-keys")]
            Self::RsaPkcs1Sha256 => 256..=512,
        }
    }
}
