//! Keys that anybody may know. They verify; where the private half is configured, they sign.

use std::sync::Arc;

use aws_lc_rs::digest::{self, Digest, SHA256};
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaParameters,
    VerificationAlgorithm,
};
use sha2::Digest as _;

use crate::algorithm::Algorithm;
use crate::keyring::SecretFormat;
use crate::tag::Tag;
use crate::{base64, hex};

/// A public key, and perhaps the private one that belongs to it.
pub(crate) struct PublicKey {
    algorithm: Algorithm,
    parsed: Arc<ParsedPublicKey>,
    private: Option<PrivateKey>,
    digest: [u8; 32],
}

enum PrivateKey {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    Rsa(rsa::KeyPair),
}

/// Fed the signed content as it arrives.
#[derive(Clone)]
pub(crate) struct PublicCheck {
    key: Arc<ParsedPublicKey>,
    /// None for Ed25519, which signs no digest.
    sha256: Option<digest::Context>,
}

/// Fed all of it.
pub(crate) struct PublicChecked {
    key: Arc<ParsedPublicKey>,
    sha256: Option<Digest>,
}

impl PublicKey {
    /// Read a key in a format that knows public keys alone: the public key in the provider's spelling, or the private
    /// one as base64 of PKCS#8.
    pub(crate) fn read(format: SecretFormat, text: &str) -> Option<Self> {
        let mut key = [0; 32];
        let is_hex = hex::decode(text.as_bytes(), &mut key).is_some();
        if is_hex && format == SecretFormat::Ed25519Hex {
            return Self::ed25519(&key, None);
        }
        let der = base64::decode_secret(text.as_bytes())?;
        match format {
            SecretFormat::Ed25519Hex => {
                let private = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok()?;
                Self::ed25519_pair(private)
            }
            SecretFormat::P256Spki => {
                if let Some(point) = der.strip_prefix(P256_SPKI) {
                    return Self::p256(point, None);
                }
                let private =
                    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &der).ok()?;
                let point = private.public_key().as_ref().to_vec();
                Self::p256(&point, Some(PrivateKey::P256(private)))
            }
            SecretFormat::RsaSpki => {
                if is_rsa_spki(&der) {
                    return Self::rsa(&der, None);
                }
                let private = rsa::KeyPair::from_pkcs8(&der).ok()?;
                let spki = private.public_key().as_der().ok()?;
                Self::rsa(spki.as_ref(), Some(PrivateKey::Rsa(private)))
            }
            SecretFormat::Base64 { .. }
            | SecretFormat::Text { .. }
            | SecretFormat::StandardWebhooks => None,
        }
    }

    /// Read a key of Standard Webhooks: `whpk_`, or `whsk_` and the seed, perhaps with the public key behind it.
    ///
    /// The outer `None` is another kind of text, the inner one a bad key.
    #[expect(clippy::option_option, reason = "read once, by the next line")]
    pub(crate) fn read_standard(text: &str) -> Option<Option<Self>> {
        let decode = |encoded: &str| base64::decode_secret(encoded.as_bytes());
        if let Some(encoded) = text.strip_prefix("whpk_") {
            return Some(decode(encoded).and_then(|key| Self::ed25519(&key, None)));
        }
        let private = decode(text.strip_prefix("whsk_")?).and_then(|bytes| {
            let pair = match bytes.split_at_checked(32)? {
                (seed, []) => Ed25519KeyPair::from_seed_unchecked(seed),
                (seed, public) => Ed25519KeyPair::from_seed_and_public_key(seed, public),
            };
            Self::ed25519_pair(pair.ok()?)
        });
        Some(private)
    }

    /// Begin to check signatures of `algorithm`, if it is this key's.
    pub(crate) fn check(&self, algorithm: Algorithm) -> Option<PublicCheck> {
        let sha256 = (algorithm != Algorithm::Ed25519).then(|| digest::Context::new(&SHA256));
        (self.algorithm == algorithm).then(|| PublicCheck {
            key: Arc::clone(&self.parsed),
            sha256,
        })
    }

    /// Sign `content`, if the algorithm is this key's and it has its private half.
    pub(crate) fn sign(&self, algorithm: Algorithm, content: &[u8]) -> Option<Tag> {
        if self.algorithm != algorithm {
            return None;
        }
        match self.private.as_ref()? {
            PrivateKey::Ed25519(key) => Some(Tag::from_bytes(key.try_sign(content).ok()?.as_ref())),
            PrivateKey::P256(key) => {
                let signed = key.sign(&SystemRandom::new(), content).ok()?;
                Some(Tag::from_bytes(signed.as_ref()))
            }
            PrivateKey::Rsa(key) => {
                let mut tag = vec![0; key.public_modulus_len()];
                let random = SystemRandom::new();
                key.sign(&RSA_PKCS1_SHA256, &random, content, &mut tag)
                    .ok()?;
                Some(Tag::from_bytes(&tag))
            }
        }
    }

    pub(crate) fn signs(&self) -> bool {
        self.private.is_some()
    }

    /// What it is known by. No text that it hashes is one that names a secret.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn ed25519(key: &[u8], private: Option<PrivateKey>) -> Option<Self> {
        let key = <&[u8; 32]>::try_from(key).ok()?;
        if !is_strict(key) {
            return None;
        }
        Self::new(Algorithm::Ed25519, &ED25519, key, private)
    }

    fn ed25519_pair(pair: Ed25519KeyPair) -> Option<Self> {
        let key = pair.public_key().as_ref().to_vec();
        Self::ed25519(&key, Some(PrivateKey::Ed25519(pair)))
    }

    /// `point` without its first byte, which says that it is not compressed.
    fn p256(point: &[u8], private: Option<PrivateKey>) -> Option<Self> {
        let [4, coordinates @ ..] = point else {
            return None;
        };
        if coordinates.len() != 64 {
            return None;
        }
        let algorithm = Algorithm::EcdsaP256Sha256;
        Self::new(algorithm, &ECDSA_P256_SHA256_ASN1, point, private)
    }

    fn rsa(spki: &[u8], private: Option<PrivateKey>) -> Option<Self> {
        let algorithm = Algorithm::RsaPkcs1Sha256;
        let modulus_and_exponent = rsa::PublicKey::from_der(spki).ok()?;
        let bits = RsaParameters::public_modulus_len(modulus_and_exponent.as_ref()).ok()?;
        if !(2048..=4096).contains(&bits) {
            return None;
        }
        Self::new(algorithm, &RSA_PKCS1_2048_8192_SHA256, spki, private)
    }

    fn new(
        algorithm: Algorithm,
        verification: &'static dyn VerificationAlgorithm,
        key: &[u8],
        private: Option<PrivateKey>,
    ) -> Option<Self> {
        let parsed = ParsedPublicKey::new(verification, key).ok()?;
        let label: &[u8] = match algorithm {
            Algorithm::Ed25519 => b"Ed25519",
            Algorithm::EcdsaP256Sha256 => b"P-256",
            _ => b"RSA",
        };
        let mut digest = sha2::Sha256::new();
        for part in [b"webhook public key, version 1: ", label, b": ", key] {
            digest.update(part);
        }
        Some(Self {
            algorithm,
            parsed: Arc::new(parsed),
            private,
            digest: digest.finalize().into(),
        })
    }
}

impl PublicCheck {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(bytes);
        }
    }

    pub(crate) fn finish(self) -> PublicChecked {
        PublicChecked {
            key: self.key,
            sha256: self.sha256.map(digest::Context::finish),
        }
    }

    pub(crate) fn needs_content(&self) -> bool {
        self.sha256.is_none()
    }
}

impl PublicChecked {
    /// Whether `tag` is this key's signature; `content` is read for Ed25519 alone.
    pub(crate) fn holds(&self, tag: &Tag, content: &[u8]) -> bool {
        let tag = tag.as_bytes();
        match (&self.sha256, tag.first_chunk()) {
            (Some(digest), _) => self.key.verify_digest_sig(digest, tag).is_ok(),
            (None, Some(r)) => is_strict(r) && self.key.verify_sig(content, tag).is_ok(),
            (None, None) => false,
        }
    }
}

/// Whether a point of Ed25519 is canonical and not of small order: such a key verifies what nobody signed.
///
/// One that is not on the curve at all verifies nothing.
fn is_strict(point: &[u8; 32]) -> bool {
    let mut y = *point;
    y[31] &= 0x7f; // The sign of x.
    let [first, middle @ .., last] = y;
    let is_canonical = first < 0xed || last < 0x7f || middle.iter().any(|byte| *byte < 0xff);
    is_canonical && !SMALL_ORDER.contains(&y)
}

/// Whether it is a `SubjectPublicKeyInfo` of `rsaEncryption` with its NULL parameters, RFC 3279 section 2.3.1.
fn is_rsa_spki(der: &[u8]) -> bool {
    const RSA: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
    // Two bytes of length follow the first tag: the key has at least 256 bytes.
    der.first() == Some(&0x30) && der.get(4..).is_some_and(|rest| rest.starts_with(RSA))
}

/// `SubjectPublicKeyInfo` of P-256 up to the point, RFC 5480 section 2.
const P256_SPKI: &[u8] =
    b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";

/// The y of points of order 4, 1, 2 and twice 8, little-endian.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    {
        let mut minus_one = [0xff; 32];
        minus_one[0] = 0xec;
        minus_one[31] = 0x7f;
        minus_one
    },
    *b"\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a",
    *b"\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05",
];
