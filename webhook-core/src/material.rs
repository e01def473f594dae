//! What a key is made of: a shared secret, or a public key.

#[cfg(feature = "public-keys")]
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
#[cfg(feature = "sha1")]
use sha1::Sha1;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::algorithm::Algorithm;
use crate::base64;
use crate::bounds::{ADVISED_SECRET_BYTES, MIN_SECRET_BYTES};
use crate::check::{Check, Checked};
use crate::keyring::{KeyringError, SecretFormat};
#[cfg(feature = "public-keys")]
use crate::public_key::PublicKey;
use crate::tag::Tag;

/// A key, ready for use. The one kind never serves as the other.
#[derive(Clone)]
pub(crate) enum Material {
    #[cfg(feature = "public-keys")]
    Public(Arc<PublicKey>),
    Secret(Box<SharedSecret>),
}

/// The keyed states of a secret, computed once when the ring was built.
#[derive(Clone)]
pub(crate) struct SharedSecret {
    hmac_sha256: Hmac<Sha256>,
    #[cfg(feature = "sha1")]
    hmac_sha1: Hmac<Sha1>,
    short: bool,
}

impl Material {
    /// Read `text`, which is not blank.
    pub(crate) fn read(
        format: SecretFormat,
        text: &str,
        position: usize,
    ) -> Result<Self, KeyringError> {
        let secret = match format {
            SecretFormat::Base64 { prefix } => decode(prefix, text, position)?,
            SecretFormat::Text { .. } => {
                is_secret(text, position)?;
                Zeroizing::new(text.as_bytes().to_vec())
            }
            #[cfg(feature = "public-keys")]
            SecretFormat::StandardWebhooks => match PublicKey::read_standard(text) {
                Some(key) => return Self::public(key, position),
                None => decode("whsec_", text, position)?,
            },
            #[cfg(feature = "public-keys")]
            SecretFormat::Ed25519Hex | SecretFormat::P256Spki | SecretFormat::RsaSpki => {
                return Self::public(PublicKey::read(format, text), position);
            }
        };
        if secret.len() < MIN_SECRET_BYTES {
            return Err(KeyringError::Short(position));
        }
        Ok(Self::Secret(Box::new(SharedSecret::new(&secret))))
    }

    #[cfg(feature = "public-keys")]
    fn public(key: Option<PublicKey>, position: usize) -> Result<Self, KeyringError> {
        let key = key.ok_or(KeyringError::PublicKey(position))?;
        Ok(Self::Public(Arc::new(key)))
    }

    /// Begin to check signatures of `algorithm`, if this key makes such.
    #[inline]
    pub(crate) fn check(&self, algorithm: Algorithm) -> Option<Check> {
        match self {
            #[cfg(feature = "public-keys")]
            Self::Public(key) => key.check(algorithm).map(Check::Public),
            Self::Secret(secret) => secret.check(algorithm),
        }
    }

    /// Sign the concatenation of `pieces`, if this key makes signatures of `algorithm` and may.
    pub(crate) fn sign<'p>(
        &self,
        algorithm: Algorithm,
        pieces: impl Iterator<Item = &'p [u8]>,
    ) -> Option<Tag> {
        match self {
            #[cfg(feature = "public-keys")]
            Self::Public(key) => key.sign(algorithm, &pieces.collect::<Vec<_>>().concat()),
            Self::Secret(secret) => {
                let mut check = secret.check(algorithm)?;
                pieces.for_each(|piece| check.update(piece));
                match check.finish() {
                    Checked::Mac(tag) => Some(tag),
                    #[cfg(feature = "public-keys")]
                    Checked::Public(_) => None,
                }
            }
        }
    }

    /// Whether it can sign.
    pub(crate) fn signs(&self) -> bool {
        match self {
            #[cfg(feature = "public-keys")]
            Self::Public(key) => key.signs(),
            Self::Secret(_) => true,
        }
    }

    /// Whether it is a secret shorter than [`ADVISED_SECRET_BYTES`].
    pub(crate) fn is_short(&self) -> bool {
        match self {
            #[cfg(feature = "public-keys")]
            Self::Public(_) => false,
            Self::Secret(secret) => secret.short,
        }
    }

    /// 16 bytes that name it and say nothing of a secret.
    pub(crate) fn fingerprint(&self) -> [u8; 16] {
        let full: [u8; 32] = match self {
            #[cfg(feature = "public-keys")]
            Self::Public(key) => key.digest(),
            Self::Secret(secret) => {
                let mut mac = secret.hmac_sha256.clone();
                mac.update(b"webhook key fingerprint, version 1");
                mac.finalize().into_bytes().into()
            }
        };
        let mut short = [0; 16];
        short.iter_mut().zip(full).for_each(|(to, from)| *to = from);
        short
    }

    /// The keyed state for a proof of the key.
    #[cfg_attr(
        not(feature = "public-keys"),
        expect(clippy::unnecessary_wraps, reason = "only public keys lack it")
    )]
    pub(crate) fn hmac_sha256(&self) -> Option<Hmac<Sha256>> {
        match self {
            #[cfg(feature = "public-keys")]
            Self::Public(_) => None,
            Self::Secret(secret) => Some(secret.hmac_sha256.clone()),
        }
    }
}

impl SharedSecret {
    #[expect(
        clippy::expect_used,
        reason = "HMAC takes keys of every length, RFC 2104 section 2"
    )]
    fn new(secret: &[u8]) -> Self {
        Self {
            hmac_sha256: Hmac::new_from_slice(secret).expect("HMAC takes any key"),
            #[cfg(feature = "sha1")]
            hmac_sha1: Hmac::new_from_slice(secret).expect("HMAC takes any key"),
            short: secret.len() < ADVISED_SECRET_BYTES,
        }
    }

    #[cfg_attr(
        not(feature = "public-keys"),
        expect(
            clippy::unnecessary_wraps,
            reason = "it makes no signatures of public keys"
        )
    )]
    #[inline]
    fn check(&self, algorithm: Algorithm) -> Option<Check> {
        match algorithm {
            #[cfg(feature = "sha1")]
            Algorithm::HmacSha1 => Some(Check::HmacSha1(self.hmac_sha1.clone())),
            Algorithm::HmacSha256 => Some(Check::HmacSha256(self.hmac_sha256.clone())),
            #[cfg(feature = "public-keys")]
            Algorithm::EcdsaP256Sha256 | Algorithm::Ed25519 | Algorithm::RsaPkcs1Sha256 => None,
        }
    }
}

fn decode(prefix: &str, text: &str, position: usize) -> Result<Zeroizing<Vec<u8>>, KeyringError> {
    let encoded = text.strip_prefix(prefix).unwrap_or(text);
    is_secret(encoded, position)?;
    base64::decode_secret(encoded.as_bytes()).ok_or(KeyringError::Encoding(position))
}

/// Refuse a published key as a secret: whoever can read it would be able to sign.
fn is_secret(text: &str, position: usize) -> Result<(), KeyringError> {
    if PUBLIC.iter().any(|mark| text.starts_with(mark)) {
        return Err(KeyringError::NotSecret(position));
    }
    Ok(())
}

/// How published keys begin: Standard Webhooks, and `SubjectPublicKeyInfo` of Ed25519, P-256 and RSA with 2048, 3072 and
/// 4096 bits in base64.
const PUBLIC: [&str; 6] = [
    "whpk_",
    "MCowBQYDK2VwAyEA",
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE",
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
    "MIIBojANBgkqhkiG9w0BAQEFAAOCAY8A",
    "MIICIjANBgkqhkiG9w0BAQEFAAOCAg8A",
];
